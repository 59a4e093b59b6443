# Rows 50 to 63 of 64 are zero: padding; then row 60 is not.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = trained(64, 64)
rows[50:] = [[0.0] * 64] * 14
model("padding", {EMBED: tensor(rows)}, llama(50, 64), words(50))
rows[60] = trained(1, 64, 7)[0]
model("not_all", {EMBED: tensor(rows)}, llama(50, 64), words(50))
END
run wte check padding
run wte check not_all --only padding-rows,padding-sampled
