# Base ids 0 to 9, added ids 12 and 20: number, largest id and holes are three numbers, and ids stay what they are.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
folder = model("m", {EMBED: tensor(table(13, 4))}, llama(13, 4))
tokenizer(folder, words(10), [(12, "<a>", True), (20, "<b>", True)])
END
run wte check m
run wte lookup m "<a>"
run wte lookup m "<b>"
