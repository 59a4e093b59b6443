# Roles, config, factor, types of blocks and tokens come from the one file; what lies beside it says nothing.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/../../fuzz" python3 -B - << 'END'
import seeds_gguf
open("m.gguf", "wb").write(seeds_gguf.model().bytes())
END
echo '{"model_type": "gpt2", "n_embd": 5}' > config.json
run wte inspect m.gguf --all
run wte trace m.gguf --token ' the'
run wte tied m.gguf
run wte lookup m.gguf 1 3 --json
