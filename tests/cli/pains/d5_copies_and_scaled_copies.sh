# Three equal rows, and two of twice their length: exact groups and near ones are told apart, with their tokens.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = trained(100, 64)
rows[11] = rows[12] = rows[10]
rows[20] = rows[21] = [2 * value for value in rows[10]]
model("m", {EMBED: tensor(rows)}, llama(100, 64), words(100))
END
run wte check m
