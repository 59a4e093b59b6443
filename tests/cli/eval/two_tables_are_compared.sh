# Agreement of tables: by token, by row, with spaces before words, with itself.
. "$DATA/../cli/lib.sh"
royal
sed -n '1p;3,9p;2p' words.vec | sed 's/apple/pear/' > other.vec
run wte eval words.vec --against words.vec
run wte eval words.vec --against other.vec --top 2 --seed 3 --pairs 1000
run wte eval words.vec --against demo --top 1 --sample 3 --pairs 50
run wte eval words.vec --against other.vec --json --pairs 100
run wte eval "$DATA/static-f32" --against "$DATA/static-f32" --leading-space --sample 5 --pairs 10
run wte eval demo --against demo --threads 3 --isotropy
