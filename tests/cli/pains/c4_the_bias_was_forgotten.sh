# A masked language model of 8 rows whose head's bias kept 7 numbers.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
model("m", {"bert.embeddings.word_embeddings.weight": tensor(table(8, 4)),
            "cls.predictions.bias": ("F32", [7], f32(table(1, 7))),
            "cls.predictions.decoder.bias": ("F32", [8], f32(table(1, 8)))},
      {"model_type": "bert", "architectures": ["BertForMaskedLM"], "vocab_size": 8, "hidden_size": 4}, words(8))
END
run wte check m
