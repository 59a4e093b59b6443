# 100 rows, vocab_size 101, an added token of id 100: every number is shown, and each pair that disagrees.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
folder = model("m", {EMBED: tensor(table(100, 4))}, llama(101, 4))
tokenizer(folder, words(100), [(100, "<pad>", True)])
END
run wte check m
run wte inspect m
run wte lookup m "<pad>"
