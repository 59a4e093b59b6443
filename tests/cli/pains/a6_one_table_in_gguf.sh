# A GGUF file with the token table alone, and one with the output tensor alone: both are tied, and ids have rows.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
arch = [("general.architecture", 8, gguf_text("llama"))]
gguf("input.gguf", [("token_embd.weight", [4, 6], 0, f32(table(6, 4)))], arch)
gguf("output.gguf", [("output.weight", [4, 6], 0, f32(table(6, 4)))], arch)
END
for m in input.gguf output.gguf; do
    run wte tied $m
    run wte lookup $m 5
done
