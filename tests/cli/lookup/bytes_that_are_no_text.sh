# A token may be one byte of a character: JSON then has its bytes in hex too; text shows them escaped.
. "$DATA/../cli/lib.sh"
mkdir model
wte new --rows 5 --dim 2 --name wte.weight -o model/model.safetensors > told
cat > model/tokenizer.json << 'END'
{"decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "merges": [],
 "vocab": {"\u0120hello": 0, "\u00e2": 1, "\u010a": 2, "say\u0120\"x\"": 3, "\u00e2\u0122\u00ae": 4}}}
END
run wte lookup model 0 1 2 3 4
run wte lookup model ' hello' 1 4 --json
