# Marks of padding (-1) and of ignored targets (-100) are no rows: never the last one, never row 0.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(table(3, 4))}, llama(3, 4), words(3))
END
run wte lookup m 2 -1 -100
echo 2 -1 -100 > ids
run wte lookup m --ids ids
run wte lookup m --ids ids --ignore-id -1
run wte lookup m --ids ids --ignore-id -1 --ignore-id -100
run wte trace m -1
run wte near m -1
