# Numbers are taken from the right: a token may hold spaces, be made of digits, or be no UTF-8; a no-break space is a letter of it.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
pathlib.Path("t.vec").write_bytes(b". . . 1 2\n1234 3 4\nx\xc2\xa0y 5 6\nbad\xff 7 8\n")
END
run wte lookup t.vec 0 1 2 3
run wte lookup t.vec --token 1234 ". . ."
wte lookup t.vec 3 2 --json | grep '"id"'
