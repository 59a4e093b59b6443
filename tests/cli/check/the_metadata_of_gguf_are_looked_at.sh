# Ids, arrays, flags and keys that loaders believe; a file that is no model has no repair.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/../../fuzz" python3 -B - << 'END'
import seeds_gguf as s
def model(tokens=("<pad>", "<|user|>", "ing", "\u2581")):
    f = s.File().pair("general.architecture", s.STRING, "llama").pair("tokenizer.ggml.model", s.STRING, "llama")
    f.array("tokenizer.ggml.tokens", s.STRING, tokens).array("tokenizer.ggml.token_type", s.I32, [3, 3, 1, 4])
    return f
def write(name, f):
    open(name, "wb").write(f.tensor("token_embd.weight", [4, 4], 0).bytes())
f = model(("<pad>", "<|user|>", "ing", "<\uff5cuser\uff5c>")).pair("tokenizer.ggml.eos_token_id", s.U32, 7)
f.pair("tokenizer.ggml.add_bos_token", s.BOOL, 1).pair("tokenizer.chat_template", s.STRING, "a")
write("m.gguf", f.pair("tokenizer.chat_template", s.STRING, "b"))
write("twice.gguf", model().pair("tokenizer.ggml.bos_token_id", s.U32, 1).pair("tokenizer.ggml.bos_token_id", s.U32, 2))
lora = s.File().pair("general.type", s.STRING, "adapter").pair("adapter.type", s.STRING, "lora")
open("lora.gguf", "wb").write(lora.tensor("token_embd.weight.lora_a", [4, 2], 0).bytes())
END
only=gguf-special-id,gguf-array-length,gguf-token-type,gguf-add-without-id,gguf-key-twice,vocab-confusable,table-missing
for f in m twice lora; do run wte check $f.gguf --only $only; done
run wte lookup lora.gguf 1
run wte check twice.gguf --json
