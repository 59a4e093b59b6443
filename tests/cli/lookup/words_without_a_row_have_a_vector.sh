# --unknown: a fastText model makes vectors of n-grams; these are the numbers that fastText prints. Other models make none.
. "$DATA/../cli/lib.sh"
exec 2>&1
model="$DATA/fasttext/trained.bin"
run wte lookup "$model" --unknown Fuß 12 Füße Fußweg
wte lookup "$model" --unknown Fußweg Fuß --json | grep -e '"id"'
wte lookup "$model" --unknown Fußweg --npy -o one.npy
wte lookup one.npy 0
wte lookup "$DATA/fasttext/cut.ftz" --unknown foxes --json | grep -e '"id"'
run wte lookup "$model" Fußweg
run wte lookup "$DATA/fasttext/bare.bin" --unknown x
run wte lookup "$DATA/fasttext/m.vec" --unknown x
run wte lookup demo --unknown x
run wte lookup "$model" --unknown x --tensor input
echo 1 | run wte lookup "$model" --unknown --ids -
