# What lies there instead of a shard, under its name: said, with the size that is missing.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
put = lambda name, raw: pathlib.Path(name).write_bytes(raw)
put("pointer.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 4976698672\n")
put("page.safetensors", b"<!DOCTYPE html>\n<html><body>404</body></html>\n")
put("reply.safetensors", b'{"error": "Repository not found"}')
put("text.safetensors", b"Entry not found")
put("empty.safetensors", b"")
safetensors("whole.safetensors", {EMBED: tensor(table(6, 4))})
whole = pathlib.Path("whole.safetensors").read_bytes()
put("cut.safetensors", whole[:-10])
put("header.safetensors", whole[:50])
put("archive.safetensors", b"PK\5\6" + bytes(18))
gguf("other.safetensors", [("token_embd.weight", [4, 6], 0, f32(table(6, 4)))])
END
for m in pointer page reply text empty cut header archive; do run wte lookup $m.safetensors 0; done
# content counts, not the name
run wte lookup other.safetensors 0
run wte inspect "$DATA/torch/legacy.pt"
