# 9 tokens, 12 rows, head row 11 = 10 x row 0: ids without a text that can be drawn.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
head = [[value / 100 for value in row] for row in table(12, 4)]
head[:9] = table(9, 4)
head[11] = [10 * value for value in head[0]]
model("m", {EMBED: tensor(table(12, 4)), HEAD: tensor(head)}, llama(12, 4, tied=False), words(9))
END
run wte check m
