# 36 MB of vectors, from one thread and from two.
printf '\002\000\003\000\005\000\001\000\000\000\004\000' > ids
for i in 1 2 3 4 5 6 7 8 9 10; do cat ids ids ids > more && mv more ids; done
for i in 1 2 3; do cat ids ids > more && mv more ids; done
wc -c < ids
wte lookup demo --ids ids --ids-type u16 --raw --threads 1 -o one
wte lookup demo --ids ids --ids-type u16 --raw --threads 2 -o two
cmp one two
tail -c 24 two | od -An -v -tx4 -w12
