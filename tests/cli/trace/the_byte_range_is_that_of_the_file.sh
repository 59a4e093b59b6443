# The bytes at the range that trace names are the vector, as another program reads them.
. "$DATA/../cli/lib.sh"
run wte trace "$DATA/static-f32" '!'
wte trace "$DATA/static-f32" '!' --json > facts
python3 - "$DATA/static-f32/model.safetensors" << 'END'
import json, struct, sys
fact = json.load(open("facts"))["traces"][0]
with open(sys.argv[1], "rb") as f:
    f.seek(fact["begin"])
    raw = f.read(fact["end"] - fact["begin"])
assert raw.hex() == fact["bytes"]
assert list(struct.unpack("<%df" % (len(raw) // 4), raw)) == [struct.unpack("<f", struct.pack("<f", x))[0] for x in fact["vector"]]
print("the same")
END
