# A finite bf16 number of 81920 is infinite in f16.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = [[float(1 + (row * column) % 11) for column in range(64)] for row in range(1, 21)]
rows[4][2] = 81920.0
model("m", {EMBED: ("BF16", [20, 64], bf16(rows))}, llama(20, 64), words(20))
END
run wte check m --only narrow-f16
run wte lookup m 4 --dtype f16 --allow-overflow --json | grep -o '"vector": .[^,]*, [^,]*, [^,]*'
