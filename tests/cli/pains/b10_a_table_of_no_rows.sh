# Sharded training saved [0, 8], or [0]: one fault, named; no command divides by the rows.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("matrix", {EMBED: tensor([], 8)}, llama(0, 8), words(6))
model("flat", {EMBED: ("F32", [0], b"")}, llama(0, 8), words(6))
END
for m in matrix flat; do
    run wte check $m
    run wte tied $m
    run wte lookup $m 0
    run wte trace $m 0
    run wte near $m 0
    run wte diagnose $m --id 0 --observed 1
    run wte diff $m $m
done
