# The dimension is appended to the shape of the ids: both byte orders, column order, a scalar, no ids.
. "$DATA/../cli/lib.sh"
printf '\001\002\003\004\005\000' | npy u8.npy '|u1' False '(3, 2)'
wte lookup demo --ids u8.npy
printf '\001\003\005\002\004\000' | npy columns.npy '|u1' True '(3, 2)'
printf '\000\001\000\002\000\003\000\004\000\005\000\000' | npy big.npy '>i2' False '(3, 2)'
wte lookup demo --ids u8.npy --npy > want
for ids in columns big; do wte lookup demo --ids $ids.npy --npy | cmp - want; done
head -c 70 want | tail -c 60
echo
printf '\003\000\000\000' | npy scalar.npy '<u4' False '()'
wte lookup demo --ids scalar.npy
printf '' | npy none.npy '<i8' False '(0, 4)'
wte lookup demo --ids none.npy
wte lookup demo --ids none.npy --npy | head -c 70 | tail -c 60
