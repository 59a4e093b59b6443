# Every scheme is named, and its rows come out as the numbers that were packed.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/.." python3 -B - << 'END'
import quant_models

for name in sorted(quant_models.MAKERS):
    model = quant_models.make(name)
    model.write(name)
    with open(f"{name}/want", "w") as f:
        print(*(f"{x:.9g}" for x in model.values[3]), file=f)
END
for model in */; do
    model=${model%/}
    [ "$model" = bin ] && continue
    wte inspect "$model" | sed -n 2p
    wte lookup "$model" 3 --json > "$model/got" || exit 1
done
python3 -B - << 'END'
import json
import pathlib

for path in pathlib.Path(".").glob("*/got"):
    got = json.loads(path.read_text())["lookups"][0]["vector"]
    want = [float(x) for x in (path.parent / "want").read_text().split()]
    assert [f"{x + 0.0:.7g}" for x in got] == [f"{x + 0.0:.7g}" for x in want], (path, got, want)
END
run wte inspect mlx-4 --json
for model in gptq-v2 ct-int8 bnb-nf4-nested; do
    wte inspect $model --all --json | grep _bits
    run wte inspect $model --all | sed -n '/^memory/,$p'
done
