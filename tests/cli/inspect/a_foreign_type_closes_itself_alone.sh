# A tensor of another part has a type that this build does not know: the table is read all the same.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/../../fuzz" python3 -B - << 'END'
import seeds_gguf
whole = seeds_gguf.model().bytes()
type_at = whole.index(b"output_norm.weight") + 18 + 4 + 8
open("newer.gguf", "wb").write(whole[:type_at] + b"\x2b" + whole[type_at + 1 :])
END
run wte lookup newer.gguf 1
run wte lookup newer.gguf 1 --tensor output_norm.weight
run wte inspect newer.gguf --all
