# rankN.safetensors of TensorRT-LLM: the sizes in config.json tell how tables were cut, or that they were not.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
name, whole = "transformer.vocab_embedding.weight", table(8, 4)
def ranks(folder, pieces, vocab=8, hidden=4, tp=2, pp=1):
    pathlib.Path(folder).mkdir()
    config = {"architecture": "GPTForCausalLM", "vocab_size": vocab, "hidden_size": hidden, "mapping": {"tp_size": tp, "pp_size": pp}}
    if vocab:
        pathlib.Path(folder, "config.json").write_text(json.dumps(config))
    for rank, rows in pieces.items():
        safetensors(f"{folder}/rank{rank}.safetensors", {name: tensor(rows), "transformer.ln_f.weight": ("F32", [4], f32([[1, 2, 3, 4]]))})
below = {0: whole[:4], 1: whole[4:]}
ranks("rows", below)
ranks("padded", below, vocab=7)
ranks("columns", {0: [row[:2] for row in whole], 1: [row[2:] for row in whole]})
ranks("copies", {0: whole, 1: whole})
ranks("small", below, vocab=3)
ranks("untold", below, vocab=0)
ranks("wrong", below, hidden=7)
ranks("few", below, vocab=100)
ranks("stages", below, pp=2)
ranks("one", {0: whole}, tp=1)
ranks("alone", {0: whole[:4]})
ranks("second", {1: whole[4:]}, vocab=0)
ranks("more", below, tp=3)
pathlib.Path("rows/vocab.txt").write_text("".join(f"t{k}\n" for k in range(8)))
END
for folder in rows padded columns copies small one; do run wte lookup $folder 2 6; done
run wte inspect rows/rank1.safetensors
run wte check padded
for folder in untold wrong few stages alone second more; do
    run wte lookup $folder 0
    run wte check $folder
done
