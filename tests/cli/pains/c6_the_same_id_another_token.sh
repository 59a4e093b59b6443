# a b c against c a d: rows are compared by id, told to be other tokens, and compared by token.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = table(3, 4)
model("a", {EMBED: tensor(rows)}, llama(3, 4), {"a": 0, "b": 1, "c": 2})
model("b", {EMBED: tensor([rows[2], rows[0], [7.0, 7.0, 7.0, 8.0]])}, llama(3, 4), {"c": 0, "a": 1, "d": 2})
END
run wte diff a b
run wte diff a b --by-token
