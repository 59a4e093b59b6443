# float64, float16, big-endian and [1, 3] files; more than one tensor is refused.
. "$DATA/../cli/lib.sh"
cat > make.py << 'END'
import struct, sys
row = struct.unpack("<3f", open("row.raw", "rb").read())
sys.stdout.buffer.write(struct.pack(sys.argv[1], *row))
END
wte lookup demo 3 --raw > row.raw
python3 make.py '<3d' | npy a.npy '<f8' False '(3,)'
python3 make.py '>3f' | npy b.npy '>f4' False '(1, 3)'
python3 make.py '<3e' | npy c.npy '<f2' False '(3, 1)'
python3 make.py '<3e' | npy d.npy '<f2' False '(1, 1, 3)'
for file in a b c d; do
    code=0
    wte diagnose demo --id 3 --observed $file.npy > told || code=$?
    sed -n '1p;5p' told
    echo "exit $code"
done
run wte diagnose demo --id 3 --observed "$DATA/static-f32/model.safetensors"
