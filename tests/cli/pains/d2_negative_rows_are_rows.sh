# Rows of negative numbers alone are trained rows; one number throughout is not, whatever its sign.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = trained(40, 64)
for row in range(10, 20):
    rows[row] = [-abs(value) for value in rows[row]]
model("negative", {EMBED: tensor(rows)}, llama(40, 64), words(40))
rows[9] = [-0.3] * 64
model("constant", {EMBED: tensor(rows)}, llama(40, 64), words(40))
END
run wte check negative --only rows-zero,rows-near-zero,rows-constant,rows-nonfinite
run wte check constant --only rows-zero,rows-near-zero,rows-constant,rows-nonfinite
