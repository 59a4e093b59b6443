# A padding row that is not zero is told with its norm; no padding id is no row; a zeroed one zeroes no other.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(trained(40, 64))}, llama(40, 64) | {"pad_token_id": 0}, words(40))
model("none", {EMBED: tensor(trained(40, 64))}, llama(40, 64) | {"pad_token_id": None}, words(40))
END
run wte check m --only pad-row
run wte check none --only pad-row,rows-zero
run wte new --rows 3 --dim 2 --seed 1 --padding-id 0 -o t.npy
run wte lookup t.npy 0 1 2
run wte new --rows 3 --dim 2 --seed 1 -o u.npy
run wte lookup u.npy 0 1 2
