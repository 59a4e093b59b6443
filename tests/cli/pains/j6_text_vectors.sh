# With and without a first line of counts; a count that is wrong, a line of another length, and files that are something else.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
put = lambda name, raw: pathlib.Path(name).write_bytes(raw)
put("counts.vec", b"2 3\na 1 2 3\nb 4 5 6\n")
put("bare.vec", b"a 1 2 3\nb 4 5 6\n")
put("fewer.vec", b"3 3\na 1 2 3\nb 4 5 6\n")
put("more.vec", b"1 3\na 1 2 3\nb 4 5 6\n")
put("length.vec", b"2 3\na 1 2 3\nb 4 5\n")
put("cut.vec", b"2 3\na 1 2 3\nb 4 5 6"[:-4])
put("number.vec", b"2 3\na 1 2 3\nb 4 x 6\n")
put("empty.vec", b"")
put("pickle.vec", b"\x80\4\x95\0\0\0\0\0\0\0\0]\x94.")
END
for m in counts bare fewer more length cut number empty pickle; do run wte lookup $m.vec 1; done
gzip -k counts.vec
run wte lookup counts.vec.gz b
