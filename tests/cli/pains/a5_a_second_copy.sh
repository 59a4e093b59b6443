# The same bytes are stored under both names: told as waste, in bytes.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(table(8, 2)), HEAD: tensor(table(8, 2))}, llama(8, 2), words(8))
END
run wte tied m
run wte check m
