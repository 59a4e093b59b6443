# Token types and scores declared as u8: no element is read, the tensors are; and check says so.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
texts = b"".join(gguf_text(f"w{id}") for id in range(6))
for name, key in (("kinds", "token_type"), ("scores", "scores"), ("tokens", "tokens")):
    pairs = [("tokenizer.ggml.model", 8, gguf_text("llama"))]
    if key != "tokens":
        pairs.append(("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 6) + texts))
    pairs.append(("tokenizer.ggml." + key, 9, struct.pack("<IQ", 0, 6) + bytes([1] * 6)))
    gguf(name + ".gguf", [("token_embd.weight", [4, 6], 0, f32(table(6, 4)))], pairs)
END
for m in kinds scores tokens; do
    run wte check $m.gguf
    run wte lookup $m.gguf 5
done
