# Four configs of one table: the flag nested, at the top, and absent in families of either default; then two that disagree.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
tensors = {EMBED: tensor(table(6, 4))}
inner = {"model_type": "llama", "vocab_size": 6, "hidden_size": 4, "tie_word_embeddings": True}
outer = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"], "text_config": inner}
model("nested", tensors, outer)
model("top", tensors, llama(6, 4))
model("gemma2", tensors, {"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "vocab_size": 6, "hidden_size": 4})
model("llama", tensors, LLAMA | {"vocab_size": 6, "hidden_size": 4})
model("conflict", tensors, outer | {"tie_word_embeddings": False}, words(6))
END
for m in nested top gemma2 llama conflict; do
    wte inspect $m | grep '^  flag'
    wte tied $m | head -2
done
run wte check conflict
