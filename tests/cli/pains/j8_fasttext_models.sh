# Vectors of a .bin file are those that fastText prints, also of words with letters of two bytes; nobody takes it for word2vec's.
. "$DATA/../cli/lib.sh"
exec 2>&1
run wte inspect "$DATA/fasttext/m.bin"
wte lookup "$DATA/fasttext/m.bin" 0 1 2 3 4 5 6 7 8 9 10 11 --npy -o bin.npy
wte lookup "$DATA/fasttext/m.vec" 0 1 2 3 4 5 6 7 8 9 10 11 --npy -o vec.npy
# .vec files hold five digits
wte diff bin.npy vec.npy | sed -n '/^changed rows/,/^$/p'
for m in m.bin m.vec; do run wte lookup "$DATA/fasttext/$m" zzz; done
run wte lookup "$DATA/fasttext/m.bin" --oov zzz
