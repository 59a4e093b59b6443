# Each change that is made here with Python's own arithmetic is named.
. "$DATA/../cli/lib.sh"
cat > change.py << 'END'
import math, struct, sys
table = [struct.unpack("<3f", open("demo.raw", "rb").read()[12 * r : 12 * r + 12]) for r in range(6)]
row, root = table[5], math.sqrt(3)
f32 = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
norm = math.sqrt(sum(x * x for x in row))
bf16 = lambda x: struct.unpack("<f", struct.pack("<I", (struct.unpack("<I", struct.pack("<f", x))[0] + 0x8000) & ~0xFFFF))[0]
changes = {
    "once": [f32(x * root) for x in row],
    "twice": [f32(f32(x * root) * root) for x in row],
    "divided": [f32(x / root) for x in row],
    "normalised": [f32(x / norm) for x in row],
    "swapped": struct.unpack(">3f", struct.pack("<3f", *row)),
    "narrowed": [bf16(x) for x in row],
    "zeros": [0.0] * 3,
    "nan": [float("nan"), 1.0, 2.0],
    "unrelated": [0.1, 0.2, 0.3],
}
sys.stdout.buffer.write(struct.pack("<3f", *changes[sys.argv[1]]))
END
wte lookup demo 0 1 2 3 4 5 --raw > demo.raw
for change in once twice divided normalised swapped narrowed zeros nan unrelated; do
    python3 change.py $change | npy got.npy '<f4' False '(3,)'
    echo "$change:"
    wte diagnose demo --id 5 --observed got.npy > told || echo "exit $?"
    sed -n '1p;5p;$p' told
done
