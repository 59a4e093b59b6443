# A command that waits for a reader of its output has begun the others: a signal removes them, and the folder that was made.
. "$DATA/../cli/lib.sh"
for i in 1 2 3 4 5 6 7 8 9; do echo "the cat sat on the mat"; done > text
mkfifo pipe
for signal in INT TERM HUP QUIT XFSZ; do
    env --default-signal=INT --default-signal=QUIT wte train text -o out --word2vec pipe --min-count 1 -q 2> message &
    until [ -d out ] && [ "$(ls -A out | grep -c tmp)" = 4 ]; do :; done
    kill -$signal $!
    wait $! && code=0 || code=$?
    echo "$signal: exit $code"
    cat message; ls -A
done
