# A pickle that would run a command runs nothing, and what it asked for is named; 1500 entries are all there.
. "$DATA/../cli/lib.sh"
exec 2>&1
for m in hostile.pt hostile-legacy.pt module.pt script.pt; do run wte inspect "$DATA/torch/$m"; done
run wte lookup "$DATA/torch/many.pt" --tensor layer.1499 0 1
for m in views-legacy.pt views-tar.pt views-deflated.pt; do wte lookup "$DATA/torch/$m" 3 | tail -1; done
