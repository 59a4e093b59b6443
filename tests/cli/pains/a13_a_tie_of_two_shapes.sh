# A draft head of 8 rows under a flag that says tied: the two shapes cannot be one.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(table(50, 4)), HEAD: tensor(table(8, 4))}, llama(50, 4), words(50))
END
run wte tied m
run wte check m
