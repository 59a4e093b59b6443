# Tokens 4 and 5 were pruned; config.json and the added tokens still name them.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
config = llama(4, 4) | {"bos_token_id": 4, "eos_token_id": [3, 5]}
model("config", {EMBED: tensor(table(4, 4))}, config, words(4))
folder = model("added", {EMBED: tensor(table(4, 4))}, config)
tokenizer(folder, words(4), [(5, "</s>", True)])
END
run wte check config
run wte check added
