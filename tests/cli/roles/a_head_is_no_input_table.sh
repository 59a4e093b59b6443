# A head beside a matrix of its shape, and the head of a class that reads sounds, are not taken for the input table.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
head = [[-v for v in row] for row in table(4, 2)]
model("unknown", {"net.symbol_table.weight": tensor(table(4, 2)), HEAD: tensor(head)})
ctc = {"architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2", "vocab_size": 4, "hidden_size": 2}
model("speech", {HEAD: tensor(head)}, ctc)
END
run wte lookup unknown 1
run wte inspect --candidates unknown
run wte lookup unknown 1 --tensor symbol_table
run wte logits unknown --hidden 1,0 -k 1
run wte check speech
run wte logits speech --hidden 1,0 -k 1
