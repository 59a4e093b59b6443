# NaN and infinite rows are listed; the last columns of rows of 2048 numbers in blocks come out.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = trained(20, 64)
rows[0][3], rows[7][5] = float("nan"), float("inf")
model("m", {EMBED: tensor(rows)}, llama(20, 64), words(20))
block = lambda number: struct.pack("<e32b", 0.5, *range(number, number + 32))
data = b"".join(block(number % 90) for number in range(3 * 64))
gguf("wide.gguf", [("token_embd.weight", [2048, 3], 8, data)])
END
run wte check m
wte lookup wide.gguf 2 --full | tail -1 | awk '{ print NF - 1, $(NF - 1), $NF }'
wte lookup wide.gguf 0 --full | tail -1 | awk '{ print NF - 1, $2, $(NF - 32), $NF }'
