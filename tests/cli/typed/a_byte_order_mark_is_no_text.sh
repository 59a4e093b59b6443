# Files of ids and baselines may begin with the mark of UTF-8, as other texts may.
. "$DATA/../cli/lib.sh"
printf '\357\273\2771 2\n3\n' > ids
wte lookup demo --ids ids | sed -n 2p
wte lookup demo --ids - < ids | sed -n 2p
printf '\357\273\277' > none
wte lookup demo --ids none | sed -n 2p
printf '1 \357\273\2772' > middle
run wte lookup demo --ids middle
python3 - <<'P'
import json, struct
head = json.dumps({"wte.weight": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}).encode()
open("m.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<8f", 1, 2, 3, float("nan"), 5, 6, 7, 8))
P
wte check m.safetensors --write-baseline plain > told || echo "exit $?"
(printf '\357\273\277'; cat plain) > marked
wte check m.safetensors --baseline marked > told && echo accepted
# text behind a NUL would be passed over
(cat plain; printf '\000'; cat plain) > nul
run wte check m.safetensors --baseline nul
