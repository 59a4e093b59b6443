# OPT-350m: a table of 2 columns in a model of 4. Hidden vectors of 4 go through project_out, a row of --id through both.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
config = {"model_type": "opt", "architectures": ["OPTForCausalLM"], "vocab_size": 3, "hidden_size": 4, "word_embed_proj_dim": 2}
body = "model.decoder."
tensors = {
    body + "embed_tokens.weight": tensor([[1, 0], [0, 1], [1, 1]]),
    body + "project_in.weight": tensor([[1, 0], [0, 1], [2, 0], [0, 2]]),
    body + "project_out.weight": tensor([[1, 2, 3, 4], [0, 0, 1, -1]]),
}
model("m", tensors, config)
model("biased", tensors | {body + "project_out.bias": ("F32", [2], f32([[10, 20]]))}, config)
model("broken", tensors | {body + "project_out.bias": ("F32", [3], f32([[10, 20, 30]]))}, config)
albert = {"model_type": "albert", "architectures": ["AlbertForMaskedLM"], "vocab_size": 3, "hidden_size": 4, "embedding_size": 2}
model("albert", {"albert.embeddings.word_embeddings.weight": tensor([[1, 0], [0, 1], [1, 1]]),
                 "albert.encoder.embedding_hidden_mapping_in.weight": tensor(table(4, 2))}, albert)
END
echo 1 > target
run wte inspect m
run wte trace m 1
run wte logits m --hidden 1,0,1,0
run wte logits m --hidden 1,0
run wte logits m --hidden 1,0,1
run wte logits m --hidden 1,0,1,0 --raw
run wte logits m --id 1
run wte logits m --hidden 1,0,1,0 -k 1 --json
wte logits biased --hidden 1,0,1,0 | tail -3
run wte logits broken --hidden 1,0,1,0
run wte loss m --hidden 1,0,1,0 --targets target --d-hidden d.npy
run wte lookup d.npy 0
run wte logits albert --hidden 1,0,1,0
run wte inspect albert
