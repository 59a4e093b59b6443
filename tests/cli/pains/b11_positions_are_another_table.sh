# 10 position rows, numbered from padding id 3 + 1: all ids are fine, and 7 tokens do not fit.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
prefix = "roberta.embeddings."
model("m", {prefix + "word_embeddings.weight": tensor(table(6, 4)),
            prefix + "position_embeddings.weight": tensor(table(10, 4))},
      {"model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "vocab_size": 6, "hidden_size": 4,
       "pad_token_id": 3}, words(6))
END
run wte check m
run wte inspect m
run wte lookup m --tensor position_embeddings.weight 10
