# Records with and without a line's end behind them hold the same words; nothing is trimmed, doubles are kept, and a count
# that is not that of the records is told with its byte.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
def words2vec(name, count, *records, end=b""):
    raw = b"".join(word + b" " + struct.pack(f"<{len(numbers)}f", *numbers) + end for word, numbers in records)
    pathlib.Path(name).write_bytes(f"{count} 3\n".encode() + raw)

three = (b"</s>", (1, 2, 3)), (b"apple", (4, 5, 6)), (b"\tpear", (7, 8, 9))
words2vec("lines.bin", 3, *three, end=b"\n")
words2vec("bare.bin", 3, *three)
words2vec("twice.bin", 3, three[1], three[0], (b"apple", (9, 9, 9)))
words2vec("short.bin", 3, *three[:2])
words2vec("long.bin", 2, *three)
END
for m in lines bare twice short long; do run wte lookup $m.bin 0 1 2; done
run wte lookup twice.bin apple
run wte lookup lines.bin "pear"
