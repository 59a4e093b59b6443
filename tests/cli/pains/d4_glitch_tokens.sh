# Five rows near one direction, two of them known to be unused: the ranking finds the others, by the indicator that fits.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = trained(200, 64)
direction = trained(1, 64, 9)[0]
noise = random.Random(3)
for row in range(100, 105):
    rows[row] = [value + noise.gauss(0, 0.001) for value in direction]
names = {text: id for text, id in words(200).items() if id not in (101, 102)}
for name, tied in (("tied", True), ("untied", False)):
    tensors = {EMBED: tensor(rows)}
    if not tied:
        tensors[HEAD] = tensor(trained(200, 64, 5))
    folder = model(name, tensors, llama(200, 64) | {"tie_word_embeddings": tied})
    tokenizer(folder, names | {"<unused1>": 101, "<unused2>": 102})
END
# without the indicator itself, whose last digits are those of the machine's logarithms
ranking() { wte check "$@" | sed -n '/likeliest first/,$p' | awk 'NR > 1 { $3 = "" } 1'; }
ranking tied --glitch 6
ranking untied --glitch 3
