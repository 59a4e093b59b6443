# A draft head of 5 of 12 tokens: d2t holds offsets. Names, draws, losses and --tensor go by it; what repeats is refused.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
def ints(values):
    return "I64", [len(values)], struct.pack(f"<{len(values)}q", *values)
head = [[r + 1.0, 0, 0, 0] for r in range(5)]
mask = "BOOL", [12], bytes(int(i in (0, 3, 4, 8, 11)) for i in range(12))
config = LLAMA | {"vocab_size": 12, "draft_vocab_size": 5, "hidden_size": 4, "tie_word_embeddings": False}
tensors = {"embed_tokens.weight": tensor(trained(12, 4)), HEAD: tensor(head)}
model("m", tensors | {"d2t": ints([0, 2, 2, 5, 7]), "t2d": mask}, config, words(12))
model("broken", tensors | {"d2t": ints([9, 9, 9, 9, 8])}, config, words(12))
model("doubtful", tensors | {"d2t": ints([0, 1, 2, 3, 4])}, config, words(12))
END
printf '%s\n' 0 2 2 5 7 > d2t
printf '%s\n' 0 3 4 8 11 > ids
printf '%s\n' 0 3 3 8 11 > repeats
printf '%s\n' 0 3 4 8 12 > beyond
run wte logits m --hidden 1,0,0,0 -k 2
run wte logits m --hidden 1,0,0,0 --ids 4
run wte logits m --hidden 1,0,0,0 --sample --temperature 0
for map in d2t ids; do
    wte logits m --hidden 1,0,0,0 -k 1 --map $map | tail -1
done
for map in repeats beyond none; do
    run wte logits m --hidden 1,0,0,0 -k 1 --map $map
done
run wte logits broken --hidden 1,0,0,0 -k 1
wte logits broken --hidden 1,0,0,0 -k 1 --map d2t --map-as offsets | tail -1
run wte logits doubtful --hidden 1,0,0,0 -k 1
wte logits doubtful --hidden 1,0,0,0 -k 1 --map-as offsets | tail -1
wte logits doubtful --hidden 1,0,0,0 -k 1 --map-as ids | tail -1
run wte logits broken --hidden 1,0,0,0 -k 1 --map-as ids
run wte check broken --only head-map
run wte check m --only input-only-ids
echo 11 > target
run wte loss m --hidden 1,0,0,0 --targets target --each
wte loss m --hidden 1,0,0,0 --targets target --map ids | grep 'loss  '
echo 5 > target
run wte loss m --hidden 1,0,0,0 --targets target
run wte loss m --hidden 1,0,0,0 --targets target --map repeats
run wte lookup m 4 w8 --tensor lm_head.weight
run wte lookup m w5 --tensor lm_head.weight
run wte inspect m
