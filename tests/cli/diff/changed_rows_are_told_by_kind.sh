# One row of each kind: as it was, moved, re-initialised, zero before and after, and NaN.
. "$DATA/../cli/lib.sh"
row() {
    case $1 in
    one) printf '\000\000\200\077\000\000\000\000' ;;  # 1 0
    zero) printf '\000\000\000\000\000\000\000\000' ;; # 0 0
    near) printf '\000\000\200\077\000\000\200\075' ;; # 1 0.0625
    new) printf '\000\000\000\000\000\000\000\100' ;;  # 0 2
    nan) printf '\000\000\200\077\000\000\300\177' ;;  # 1 NaN
    esac
}
for kind in one one one zero one one; do row $kind; done | npy a.npy '<f4' False '(6, 2)'
for kind in one near new one zero nan one; do row $kind; done | npy b.npy '<f4' False '(7, 2)'
run wte diff a.npy b.npy
run wte diff a.npy b.npy --json --top 1
run wte diff b.npy a.npy --top 0
