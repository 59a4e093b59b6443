# One list of texts beside one matrix of as many rows is its tokens; any other is told and not used.
. "$DATA/../cli/lib.sh"
exec 2>&1
python3 -B - << 'END'
import struct
import zipfile


def array(descr, shape, data):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


def wide(words, code="utf-32-le"):
    return b"".join(word.ljust(5, "\0").encode(code) for word in words)


def save(path, *members, how=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", how) as z:
        for name, data in members:
            z.writestr(name + ".npy", data)


words = ["the", "söt", "猫", "dog"]
vectors = "vectors", array("<f4", (4, 2), struct.pack("<8f", *range(8)))
save("wide.npz", ("words", array("<U5", (4,), wide(words))), vectors)
save("big.npz", ("words", array(">U5", (4,), wide(words, "utf-32-be"))), vectors)
save("deflated.npz", vectors, ("vocab", array("<U5", (4,), wide(words))), how=zipfile.ZIP_DEFLATED)
save("bytes.npz", ("words", array("|S5", (4,), b"".join(w.encode()[:5].ljust(5, b"\0") for w in words))), vectors)
save("short.npz", ("words", array("<U5", (3,), wide(words[:3]))), vectors)
save("two.npz", ("words", array("<U5", (4,), wide(words))), ("tags", array("<U5", (4,), wide(words))), vectors)
save("objects.npz", ("words", array("|O", (4,), bytes(32))), vectors)
save("cut.npz", ("words", array("<U5", (4,), wide(words)[:70])), vectors)
save("wrong.npz", ("words", array("<U1", (4,), b"\0\xd8\0\0" * 4)), vectors)
END
for file in wide big deflated bytes; do run wte lookup $file.npz söt 猫; done
for file in deflated short two objects cut; do run wte inspect $file.npz; done
run wte lookup wrong.npz 1
