# 4 image tokens have input rows and no head row, on purpose: a remark with the list, no fault.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
folder = model("m", {EMBED: tensor(table(20, 4)), HEAD: tensor(table(16, 4))}, llama(16, 4, tied=False))
tokenizer(folder, words(16), [(id, f"<img{id}>", True) for id in range(16, 20)])
END
run wte check m
run wte tied m
run wte lookup m "<img19>"
