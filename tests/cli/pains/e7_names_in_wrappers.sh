# The token table is found behind every usual prefix, never its neighbours; a name that nobody knows is asked for.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
for number, prefix in enumerate(("module._orig_mod.model.", "base_model.model.model.", "language_model.model.", "")):
    model(f"m{number}", {prefix + "embed_tokens.weight": tensor(table(40, 8)),
                         prefix + "embed_positions.weight": tensor(table(16, 8)),
                         prefix + "token_type_embeddings.weight": tensor(table(2, 8))},
          llama(40, 8), words(40))
safetensors("unknown.safetensors", {"wpe.weight": tensor(table(16, 8)), "tte.weight": tensor(table(2, 8)),
                                    "strange": tensor(table(40, 8))})
END
for m in m0 m1 m2 m3; do wte lookup $m 39 | sed -n '1p;$p'; done
run wte lookup unknown.safetensors 39
run wte check unknown.safetensors
run wte lookup unknown.safetensors --tensor strange 39
