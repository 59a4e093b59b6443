# Untied by its flag, and no head in the file: a lost head of a language model, but none is missing of an encoder.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("lost", {EMBED: tensor(table(6, 4))}, llama(6, 4, tied=False), words(6))
model("encoder", {EMBED: tensor(table(6, 4))}, llama(6, 4, tied=False) | {"architectures": ["LlamaModel"]}, words(6))
model("tied", {EMBED: tensor(table(6, 4))}, llama(6, 4), words(6))
END
run wte tied lost
run wte tied encoder
run wte tied tied
run wte check lost
run wte check encoder
