# New rows that nothing was written to: a whole table of zeros has a loss of ln(rows), which is said.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor([[0.0] * 4] * 6)}, llama(6, 4), words(6))
END
run wte check m
