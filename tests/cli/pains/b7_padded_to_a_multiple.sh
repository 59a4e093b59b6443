# 96 rows for vocab_size 65: the config was not updated with the table.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(trained(96, 64))}, llama(65, 64), words(65))
END
run wte check m
