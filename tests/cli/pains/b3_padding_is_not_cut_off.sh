# 20 rows for 12 tokens, the last 8 not zero: told, and no repair makes the table shorter.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {EMBED: tensor(table(20, 4))}, llama(12, 4), words(12))
END
run wte check m
if wte check m | grep -q resize_token_embeddings; then echo "a repair would cut rows"; fi
