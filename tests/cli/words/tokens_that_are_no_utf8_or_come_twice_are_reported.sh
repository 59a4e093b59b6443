# PAINS J5 and J7: bytes of a word are kept as they are; what is no UTF-8 is counted; of equal words the first is found.
. "$DATA/../cli/lib.sh"
printf '4 2\ncaf\351 1 2\ncaf\303\251 3 4\nthe 5 6\nthe 7 8\n' > t.vec
# two records that end a line, one that does not
printf '3 1\ncaf\351 \001\002\003\004\nthe \005\006\007\010\nthe \011\012\013\014' > t.bin
run wte inspect t.vec
run wte check t.vec --only vocab-not-utf8,vocab-duplicates
run wte lookup t.vec the
wte lookup t.vec --json 0 | grep -e '"id"'
wte lookup t.vec --json -- "$(printf 'caf\351')" | grep -e '"id"'
run wte inspect t.bin
run wte inspect t.bin --json | sed -n '/"vocab"/,/}/p'
