# Cut, claiming too much, of an unknown type, a later part: exit 3, or 4 for what is fine but not ours.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/../../fuzz" python3 -B - << 'END'
import seeds_gguf
whole = seeds_gguf.model().bytes()
open("cut.gguf", "wb").write(whole[:-100])
open("claims.gguf", "wb").write(whole[:8] + b"\xff" * 16 + whole[24:])
type_at = whole.index(b"token_embd.weight") + 17 + 4 + 16
open("newer.gguf", "wb").write(whole[:type_at] + b"\x63" + whole[type_at + 1 :])
split = seeds_gguf.File().pair("split.no", seeds_gguf.U16, 1).pair("split.count", seeds_gguf.U16, 3)
open("m-00002-of-00003.gguf", "wb").write(split.bytes())
END
for f in cut claims newer m-00002-of-00003; do run wte inspect $f.gguf; done
run wte lookup newer.gguf 1
