# 5 tokens, 9 rows, the last two still zero: which ids have no token, and what is in their rows.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = table(9, 4)
rows[7:] = [[0.0] * 4] * 2
model("m", {EMBED: tensor(rows)}, llama(9, 4), words(5))
END
run wte check m
