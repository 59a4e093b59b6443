# The text tower of SigLIP: its head is a projection, hidden x hidden. No word about a tie comes from it.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
table_name, head_name = "text_model.embeddings.token_embedding.weight", "text_model.head.weight"
config = {"model_type": "siglip", "architectures": ["SiglipModel"], "text_config": {"vocab_size": 20, "hidden_size": 8}}
model("m", {table_name: tensor(trained(20, 8)), head_name: tensor(trained(8, 8)), "text_model.head.bias": ("F32", [8], f32([[0] * 8]))}, config)
small = {"model_type": "llama", "vocab_size": 20, "hidden_size": 8, "tie_word_embeddings": True}
model("cut", {EMBED: tensor(trained(20, 8)), HEAD: tensor(trained(12, 8))}, small)
two = {"model_type": "llava", "tie_word_embeddings": False, "text_config": small}
model("conflict", {EMBED: tensor(trained(20, 8)), HEAD: tensor(trained(12, 8))}, two)
absent = {"model_type": "unheard-of", "vocab_size": 20, "hidden_size": 8}
model("absent", {EMBED: tensor(trained(20, 8)), HEAD: tensor(trained(12, 8))}, absent)
END
run wte check m
run wte tied m
run wte inspect m
run wte check cut
run wte check conflict --only tie-flag-conflict
run wte check absent --only tie-flag-absent
