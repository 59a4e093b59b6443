# Text forms, a packed one, fastText's own: words are looked up as they stand in the file, and a trace names their bytes.
. "$DATA/../cli/lib.sh"
printf '3 2\nthe 0.1 -0.5\n. . . 1e-3 2\nthe 3 4\n' > t.vec
gzip -nc t.vec > t.vec.gz
printf 'word,x,y\n"a,""b",1,2\nq,3,4\n' > t.csv
run wte lookup t.vec the '. . .'
run wte lookup t.vec.gz 2
run wte lookup t.csv 'a,"b'
run wte trace t.vec 1
run wte inspect "$DATA/fasttext/cut.ftz" --all | sed "s|$DATA|DATA|g"
run wte trace "$DATA/fasttext/skip.bin" café | sed "s|$DATA|DATA|g"
