# 60,000 ids to ignore, 200,000 ids to look up: gone through one by one this takes minutes.
seq -f --ignore-id=%.0f 70000 -1 10001 > options
i=0; while [ $i -lt 10 ]; do seq 10001 30000; i=$((i + 1)); done > ids
wte lookup demo --ids ids $(cat options) --json | tail -c 60
wte lookup demo 5 $(cat options) | tail -1
