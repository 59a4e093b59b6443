# 7 rows, ids 0 3 7 6: the message names the value, its place, the range and what it looks like.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(table(7, 4))}, llama(7, 4) | {"pad_token_id": 7}, words(7))
END
run wte lookup m 0 3 7 6
echo 0 3 7 6 9 | run wte lookup m --ids -
run wte trace m 7
run wte near m 7
run wte check m
