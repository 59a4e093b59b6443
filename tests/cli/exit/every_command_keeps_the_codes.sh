# Every command of `wte help --list`: an unknown option is 2, a missing or truncated file 3, a closed or full stdout 5;
# each says so in one line or more on stderr, and nothing on stdout.
MODEL=model.safetensors
wte new --rows 6 --dim 3 --seed 123 -o $MODEL > told
echo 3 > target
echo a b a b > text

# The words with which a command does its work on $MODEL.
words() {
    case $1 in
    new) echo "--rows 2 --dim 2 -o made.npy" ;;
    lookup | trace) echo "$MODEL 3" ;;
    near) echo "$MODEL 3" ;;
    eval) echo "$MODEL --pairs 10" ;;
    gradcheck) echo "$MODEL 3 1" ;;
    logits) echo "$MODEL --hidden 1,2,3" ;;
    loss) echo "$MODEL --hidden 1,2,3 --targets target" ;;
    bench) echo "--only fma --seconds 0 --memory 16" ;;
    train) echo "text -o trained --dim 2 --min-count 1 --threads 1" ;;
    diff) echo "$MODEL $MODEL" ;;
    diagnose) echo "$MODEL --id 3 --got 1,2,3" ;;
    check | inspect | tied) echo "$MODEL" ;;
    version | help) ;;
    *) echo "unknown" ;;
    esac
}

# expect CODE WHAT COMMAND...
expect() {
    want=$1
    what=$2
    shift 2
    code=0
    "$@" > out 2> err || code=$?
    [ "$code" = "$want" ] || echo "$what: exit $code, expected $want: $*"
    [ -s err ] || echo "$what: nothing on stderr: $*"
    [ ! -s out ] || echo "$what: printed on stdout: $*"
}

for command in $(wte help --list); do
    arguments=$(words "$command")
    [ "$arguments" != unknown ] || echo "$command: no line in this test"
    expect 2 "bad option" wte "$command" $arguments --no-such-option
    expect 5 "closed stdout" sh -c 'exec wte "$@" >&-' sh "$command" $arguments
    expect 5 "full stdout" sh -c 'exec wte "$@" > /dev/full' sh "$command" $arguments
    case $arguments in
    *$MODEL*)
        cp $MODEL whole
        rm $MODEL
        expect 3 "missing file" wte "$command" $arguments
        for bytes in 0 7 40 150 200; do
            head -c $bytes whole > $MODEL
            expect 3 "truncated to $bytes bytes" wte "$command" $arguments
        done
        mv whole $MODEL
        ;;
    esac
done
