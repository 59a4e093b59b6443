# Helpers for cases; sourced as `. "$DATA/../cli/lib.sh"`.

# npy FILE DESCR ORDER SHAPE: an .npy header (version 1.0); the data is appended from stdin. ORDER is True for columns.
npy() {
    dictionary="{'descr': '$2', 'fortran_order': $3, 'shape': $4, }"
    {
        printf '\223NUMPY\001\000\166\000%-117s\n' "$dictionary"
        cat
    } > "$1"
}

# run COMMAND...: what it prints, then its exit code.
run() {
    line='$'
    for word in "$@"; do line="$line ${word:-''}"; done
    echo "$line"
    code=0
    "$@" || code=$?
    echo "exit $code"
}
