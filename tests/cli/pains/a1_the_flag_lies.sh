# The flag says tied, and the file holds a head of its own: both are kept, and the flag is called a lie.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
head = table(6, 4)
head[2] = [1.5 * value for value in head[2]]
model("m", {EMBED: tensor(table(6, 4)), HEAD: tensor(head)}, llama(6, 4), words(6))
END
run wte tied m
run wte check m
# neither table is taken for the other
run wte lookup m 2
run wte lookup m --tensor lm_head.weight 2
