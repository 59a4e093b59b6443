# --oov: a fastText model makes vectors of n-grams; these are the numbers that fastText prints. Other models make none.
. "$DATA/../cli/lib.sh"
exec 2>&1
model="$DATA/fasttext/trained.bin"
run wte lookup "$model" --oov Fuß 12 Füße Fußweg
wte lookup "$model" --oov Fußweg Fuß --json | grep -e '"id"'
wte lookup "$model" --oov Fußweg --npy -o one.npy
wte lookup one.npy 0
wte lookup "$DATA/fasttext/cut.ftz" --oov foxes --json | grep -e '"id"'
run wte lookup "$model" Fußweg
run wte lookup "$DATA/fasttext/bare.bin" --oov x
run wte lookup "$DATA/fasttext/m.vec" --oov x
run wte lookup demo --oov x
run wte lookup "$model" --oov x --tensor input
echo 1 | run wte lookup "$model" --oov --ids -
