# The same ids in every form give the same bytes.
. "$DATA/../cli/lib.sh"
wte lookup demo 2 3 5 1 --raw > want
printf '2, 3\n5\t1\n' > text
wte lookup demo --ids text --raw | cmp - want
wte lookup demo --ids - --raw < text | cmp - want
cat text | wte lookup demo --ids - --raw | cmp - want
printf '\002\000\003\000\005\000\001\000' > raw16
wte lookup demo --ids raw16 --ids-type u16 --raw | cmp - want
cat raw16 | wte lookup demo --ids - --ids-type u16 --raw | cmp - want
npy i2.npy '<i2' False '(4,)' < raw16
wte lookup demo --ids i2.npy --raw | cmp - want
cat i2.npy | wte lookup demo --ids - --raw | cmp - want
printf '\000\000\000\100\000\000\100\100\000\000\240\100\000\000\200\077' | npy f4.npy '<f4' False '(4,)'
wte lookup demo --ids f4.npy --raw | cmp - want
{
    printf '\000\000\000\000\000\000\000\100\000\000\000\000\000\000\010\100'
    printf '\000\000\000\000\000\000\024\100\000\000\000\000\000\000\360\077'
} | npy f8.npy '<f8' False '(4,)'
wte lookup demo --ids f8.npy --raw | cmp - want
