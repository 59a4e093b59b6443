# Models of public reports, each in the fewest bytes: what each command answers about its tables, tokens, head and faults.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - << 'END'
import math
from files import *
from torch_files import *
whole, other = trained(12, 4), trained(12, 4, 2)
norm = ("F32", [4], f32([[1, 1, 1, 1]]))

def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
def piece(text, kind=1):
    raw = text.encode()
    inside = b"\x0a" + varint(len(raw)) + raw + b"\x15" + struct.pack("<f", -1) + b"\x18" + bytes([kind])
    return b"\x0a" + varint(len(inside)) + inside
def spm(path, pieces):
    pathlib.Path(path).write_bytes(b"".join(piece(*p) for p in pieces))
start = [("<unk>", 2), ("<s>", 3), ("</s>", 3)]
def put(path, value):
    pathlib.Path(path).write_text(json.dumps(value))

# a copy of the head stored beside a table whose flag says tied, equal or not (MLX)
mlx = llama(2, 64) | {"quantization": {"group_size": 32, "bits": 4}}
def packed(seed):
    noise = random.Random(seed)
    return {"weight": ("U32", [2, 8], noise.randbytes(64)), "scales": ("F16", [2, 2], struct.pack("<4e", 0.25, 0.5, 1, 2)),
            "biases": ("F16", [2, 2], struct.pack("<4e", -1, 0, 1, -2))}
def stored(name, parts): return {f"{name}.{k}": v for k, v in parts.items()}
for name, seed in (("mlx_equal", 1), ("mlx_other", 2)):
    model(name, stored("model.embed_tokens", packed(1)) | stored("lm_head", packed(seed)), mlx)

# tokenizer.model has placeholders, tokenizer_config.json the texts; two of these are untrained
for name, zeros in (("overrides", ()), ("overrides_zero", (10, 11))):
    rows = [[0.0] * 4 if r in zeros else row for r, row in enumerate(whole)]
    config = {"model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"], "vocab_size": 12, "hidden_size": 4, "tie_word_embeddings": False}
    model(name, {"model.tok_embeddings.weight": tensor(rows), "output.weight": tensor(other)}, config)
    spm(f"{name}/tokenizer.model", start + [(f"▁w{i}", 1) for i in range(7)] + [("[UNUSED_TOKEN_145]", 4), ("[UNUSED_TOKEN_146]", 4)])
    added = {"10": {"content": "<|im_end|>", "special": True}, "11": {"content": "<|im_start|>", "special": True}}
    put(f"{name}/tokenizer_config.json", {"tokenizer_class": "InternLM2Tokenizer", "added_tokens_decoder": added})
    pathlib.Path(name, "chat.jinja").write_text("{{ '<|im_start|>user\\n' + message + '<|im_end|>' }}")

# the head is the first rows of the table, whose last ones are soft prompts
cpm = {"model_type": "cpmant", "architectures": ["CpmAntForCausalLM"], "vocab_size": 10, "hidden_size": 4}
model("cpmant", {"cpmant.input_embedding.weight": tensor(trained(14, 4)), "lm_head.weight": tensor(trained(14, 4)[:10])}, cpm)

# padded rows of BERT; Meta's params.json with vocab_size -1; tekken.json alone; an untied Nemotron-H
bert = {"model_type": "bert", "architectures": ["BertForMaskedLM"], "vocab_size": 10, "hidden_size": 4}
model("bert", {"bert.embeddings.word_embeddings.weight": tensor([*whole[:10], [0.01] * 4, [0.01] * 4]), "cls.predictions.bias": ("F32", [12], bytes(48)),
               "bert.embeddings.position_embeddings.weight": tensor(table(8, 4))}, bert)
pathlib.Path("bert/vocab.txt").write_text("".join(f"w{i}\n" for i in range(10)))
llama_names = {"tok_embeddings.weight": whole, "output.weight": other}
torch("meta/consolidated.00.pth", {k: Tensor(v) for k, v in llama_names.items()} | {"norm.weight": Tensor([1.0] * 4)})
put("meta/params.json", {"dim": 4, "n_layers": 1, "n_heads": 2, "norm_eps": 1e-5, "vocab_size": -1})
spm("meta/tokenizer.model", start + [(f"▁w{i}", 1) for i in range(9)])
pathlib.Path("mistral").mkdir()
safetensors("mistral/consolidated.safetensors", {k: tensor(v) for k, v in llama_names.items()} | {"norm.weight": norm})
put("mistral/params.json", {"dim": 4, "n_layers": 1, "vocab_size": 12})
special = [{"rank": i, "token_str": f"<s{i}>", "is_control": True} for i in range(3)]
vocab = [{"rank": i, "token_bytes": __import__("base64").b64encode(b"t%d" % i).decode(), "token_str": f"t{i}"} for i in range(9)]
settings = {"pattern": ".", "num_vocab_tokens": 12, "default_vocab_size": 12, "default_num_special_tokens": 3, "version": "v3"}
put("mistral/tekken.json", {"config": settings, "vocab": vocab, "special_tokens": special})
nemotron = {"model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"], "vocab_size": 12, "hidden_size": 4, "tie_word_embeddings": False}
model("nemotron", {"backbone.embeddings.weight": tensor(whole), "lm_head.weight": tensor(other)}, nemotron)

# a good table and a bad head
def bad(name, head): model(name, {EMBED: tensor(whole), HEAD: tensor(head)}, llama(12, 4, False), words(12))
bad("head_zeros", [[0.0] * 4] * 12)
bad("head_nan", [[math.nan] * 4] * 12)
bad("head_nan_row", [*other[:5], [math.nan] * 4, *other[6:]])
bad("head_same", [other[0]] * 12)

# files cut and padded; spaCy's vectors cut
whole_file = torch("whole.pt", {"wte.weight": Tensor(whole)})
raw = pathlib.Path("whole.pt").read_bytes()
pathlib.Path("cut.pt").write_bytes(raw[:-40])
pathlib.Path("half.pt").write_bytes(raw[:len(raw) // 2])
raw_safetensors("metadata_alone.safetensors", b'{"__metadata__":{"key":"value"}}')
pathlib.Path("padded.pt").write_bytes(raw + bytes(70000))
torch("no_tensors.pt", {})
raw_safetensors("two_objects.safetensors", b'{},"__metadata__":{"key":"value"}}')
pathlib.Path("spacy/vocab").mkdir(parents=True)
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (12, 4), }".ljust(117) + b"\n"
pathlib.Path("spacy/vocab/vectors").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + f32(whole)[:-20])
pathlib.Path("spacy/vocab/key2row").write_bytes(b"\x80")
put("spacy/vocab/strings.json", [])

# a stored copy of the head in GGUF; positions of an image model
def gguf_table(name, rows): return name, [4, len(rows)], 0, f32(rows)
def text(key, value): return key, 8, gguf_text(value)
def number(key, value): return key, 4, struct.pack("<I", value)
both = [gguf_table("token_embd.weight", whole), gguf_table("output.weight", whole)]
gguf("copy.gguf", both, [text("general.architecture", "phi2"), number("phi2.embedding_length", 4), number("phi2.vocab_size", 13)])
gguf("mmproj.gguf", [gguf_table("v.position_embd.weight", table(16, 4)), gguf_table("mm.0.weight", whole)],
     [text("general.architecture", "clip"), text("general.type", "mmproj")])
siglip = {"model_type": "siglip", "architectures": ["SiglipModel"], "text_config": {"model_type": "siglip_text_model", "vocab_size": 12, "hidden_size": 4}}
model("siglip", {"text_model.embeddings.token_embedding.weight": tensor(whole), "text_model.embeddings.position_embedding.weight": tensor(table(6, 4)),
                 "vision_model.embeddings.position_embedding.weight": tensor(table(9, 4)), "text_model.head.weight": tensor(table(4, 4))}, siglip)
END
for name in mlx_equal mlx_other; do wte tied $name -q | head -n 2; done
for name in overrides overrides_zero cpmant bert meta mistral nemotron head_zeros head_nan head_nan_row head_same copy.gguf siglip; do
    echo "$ wte check $name"
    codes $name
done
wte lookup overrides '<|im_start|>' -q | tail -n 1
wte check overrides_zero --template overrides_zero/chat.jinja | grep -A2 ^error || true
wte lookup overrides_zero 10 -q | tail -n 1
wte lookup meta " w0" -q | tail -n 1
wte lookup mistral t3 '<s1>' -q | tail -n 2
for name in cpmant head_nan head_nan_row copy.gguf; do wte tied $name -q | head -n 2; done
grep -h repair report || true
wte check copy.gguf | grep -A2 '^warn\|repair'
wte inspect mmproj.gguf | grep position
wte inspect siglip | grep position
run wte check metadata_alone.safetensors
run wte lookup metadata_alone.safetensors 0
run wte lookup no_tensors.pt 0
for file in whole.pt cut.pt half.pt padded.pt two_objects.safetensors spacy; do run wte lookup $file 11 -q | tail -n 2; done
