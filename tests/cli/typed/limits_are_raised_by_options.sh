# What a message of a limit names is an option: with it the same input is read, and a lower one refuses it.
. "$DATA/../cli/lib.sh"
python3 - <<'P'
import struct
def npy(path, header, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(header - 1) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(head)) + head.encode() + data)
npy("ids.npy", 20000, "<i8", "(2,)", struct.pack("<2q", 3, 1))
npy("hidden.npy", 20000, "<f4", "(1, 3)", struct.pack("<3f", 1, 2, 3))
npy("m.npy", 20000, "<f4", "(2, 3)", struct.pack("<6f", 1, 2, 3, 4, 5, 6))
P
run wte lookup demo --ids ids.npy
wte lookup demo --ids ids.npy --max-header 20000 | tail -1
wte lookup demo --ids - --max-header 20000 < ids.npy | tail -1
run wte logits demo --hidden hidden.npy
wte logits demo --hidden hidden.npy --max-header 20000 --top 1 | tail -1
run wte lookup m.npy 1
run wte tied m.npy
wte lookup m.npy 1 --max-header 20000 | tail -1
wte diff m.npy m.npy --max-header 20000 | head -2 | tail -1
wte new --rows 2 --dim 2 -o v/model.npy 2> told || mkdir v
wte new --rows 2 --dim 2 -o v/model.safetensors > told
printf 'one\ntwo\n' > v/vocab.txt
wte lookup v two | tail -1
run wte lookup v two --max-vocab 7 2>&1 | head -2
run wte new --rows 1000 --dim 1000 --max-bytes 3999999 -o big.npy
wte new --rows 1000 --dim 1000 --max-bytes 4000000 -o big.npy > told && echo made
echo a b a b a b > text
run wte train text -o out --min-count 1 --dim 2 --threads 1 --max-bytes 1000
run wte train text -o out --method lm --min-count 1 --dim 2 --threads 1 --max-bytes 1000
printf 'one\ttwo\t3\n' > pairs
run wte eval v --similarity pairs --max-bytes 5
run wte lookup demo 1 --max-header 0
