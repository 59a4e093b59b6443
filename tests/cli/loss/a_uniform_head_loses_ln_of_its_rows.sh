# Eight equal rows: each loss is ln 8 = 2.079442 and the perplexity 8, whatever the smoothing; the smallest id counts as
# the largest logit. Hidden [1], rows 0: d loss / d row r = (1/8 - [r is the target]) * hidden / n.
. "$DATA/../cli/lib.sh"
wte new --rows 8 --dim 1 --init zeros -o t.npy > told
printf '\000\000\200\077\000\000\000\100' | npy h.npy '<f4' False '(2, 1)' # 1, 2
printf '3\n0\n' > targets
run wte loss t.npy --hidden h.npy --targets targets --d-hidden dh.npy --d-table dt.npy
wte lookup dh.npy 0 1
wte lookup dt.npy 0 1 3
run wte loss t.npy --hidden h.npy --targets targets --label-smoothing 0.5 --z-loss 0.25
