# Rows of 96 numbers cannot be blocks of 256: refused by name, nothing else is taken in their place.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
gguf("m.gguf", [("token_embd.weight", [96, 2], 12, bytes(144))])
END
run wte lookup m.gguf 0
