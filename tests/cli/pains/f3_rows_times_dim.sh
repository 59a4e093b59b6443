# ne = [8, 3] is 3 rows of 8, with a third dimension of 1 as well; a trace shows where each row lies.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
gguf("two.gguf", [("token_embd.weight", [8, 3], 0, f32(table(3, 8)))])
gguf("three.gguf", [("token_embd.weight", [8, 3, 1], 0, f32(table(3, 8)))])
END
for m in two three; do
    run wte lookup $m.gguf 2
    wte trace $m.gguf 0 | grep -E '^  (row|tensor|file)'
    wte trace $m.gguf 1 | grep -E '^  (row|tensor|file)'
done
