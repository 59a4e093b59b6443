# Rows of few bytes: the text is small, its index and its tokens are not. The option raises the bound, and is a bound itself.
. "$DATA/../cli/lib.sh"
awk 'BEGIN { for (r = 0; r < 400000; r++) print "a 1 2" }' | gzip -9n > t.vec.gz
run wte lookup t.vec.gz 3
run wte lookup t.vec.gz 3 --max-expansion 100000
run wte lookup t.vec.gz 3 --max-expansion 2
run wte lookup t.vec.gz 3 --max-expansion much
