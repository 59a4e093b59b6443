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

# royal: words.vec, a table that can be done by hand; pairs.tsv, pairs.csv and questions.txt about its words.
royal() {
    printf '%s\n' '8 3' 'man 1 0 0' 'woman 0 2 0' 'king 3 0 3' 'queen 0 1 1' 'prince 2 0.1 1.9' 'princess 0.1 2 2' \
        'apple -1 -1 0' 'Nothing 0 0 0' > words.vec
    printf '%b\n' '# judged by nobody' 'man\tking\t7' 'woman\tqueen\t7' 'king\tqueen\t8.5' 'man\tapple\t0.5' \
        'king\tking\t10' 'emperor\tking\t9' 'Nothing\tking\t1' 'Woman\tprincess\t7.5' > pairs.tsv
    printf '%s\n' 'word1;word2;POS;SimLex999' 'man;king;N;3' 'king;queen;N;7' 'queen;apple;N;0.5' > pairs.csv
    printf '%s\n' ': royal' 'man king woman queen' 'man prince woman princess' 'king queen man woman' \
        'man king woman emperor' ': gram1-none' 'man men woman women' 'Man King Woman Queen' > questions.txt
}

# rows MODEL ID...: the rows alone, or the message and the exit code.
rows() {
    code=0
    wte lookup -q "$@" > told 2>&1 || code=$?
    if [ $code -eq 0 ]; then sed '1,/^  *id  /d' told; else
        cat told
        echo "exit $code"
    fi
}

# codes MODEL...: the code and the subject of each finding of check, and the exit code; or its message.
codes() {
    code=0
    wte check "$@" > report 2>&1 || code=$?
    sed -n 's/^\(error\|warn\|info\)  *\([a-z0-9-]*\)  \(.*\)/  \1 \2 \3/p; s/^wte check: note/&/; t; s/^wte check: /  /p' report
    echo "  exit $code"
}

# refusals MODEL: what five commands answer to a model that none of them reads, each line with its count.
refusals() {
    for words in "inspect $1" "check $1" "tied $1" "lookup $1 0" "trace $1 0"; do
        code=0
        wte $words > told 2>&1 || code=$?
        sed 's/^wte [a-z]*: //' told
        echo "exit $code"
    done | sort | uniq -c | sed 's/^ */  /'
}
