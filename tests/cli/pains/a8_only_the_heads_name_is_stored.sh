# Only the head of a tied layer is in the file: the input table is that tensor, and moves with it.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {HEAD: tensor(table(6, 4))}, llama(6, 4), words(6))
model("untied", {HEAD: tensor(table(6, 4))}, llama(6, 4, tied=False), words(6))
END
run wte lookup m 3
run wte tied m
run wte tied untied
