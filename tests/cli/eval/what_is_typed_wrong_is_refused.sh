. "$DATA/../cli/lib.sh"
printf 'man king 1\n' > pairs.txt
printf 'man king\n' > short.txt
printf 'man king 1\nman queen\n' > uneven.txt
printf 'a b c\n' > three.txt
printf '2 1\nbig 1\nbigger 2\n' > other.vec
run wte eval
run wte eval demo extra
run wte eval demo --similarity pairs.txt
run wte eval other.vec --similarity pairs.txt
run wte eval other.vec --analogy three.txt
run wte eval other.vec --similarity none.txt
run wte eval other.vec --similarity short.txt
run wte eval other.vec --similarity uneven.txt
run wte eval demo --lower
run wte eval demo --leading-space
run wte eval demo --restrict 4
run wte eval demo --top 3
run wte eval demo --sample 3
run wte eval other.vec --similarity pairs.txt --pairs 4
run wte eval demo --pairs 0
run wte eval demo --against demo --top 0
run wte eval demo --against none.npy
run wte eval other.vec --against "$DATA/static-f32" --quiet
run wte eval demo --head demo
