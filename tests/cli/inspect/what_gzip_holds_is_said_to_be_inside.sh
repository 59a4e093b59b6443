# What a file is, is told by what it holds; what gzip held is said to be inside it. An archive that was
# unpacked in memory is one file.
. "$DATA/../cli/lib.sh"
exec 2>&1
printf 'PAR1\25\0\25l' >emb.parquet
run wte inspect emb.parquet
printf 'PAR1\25\0\25l' | gzip -n >emb.parquet.gz
run wte inspect emb.parquet.gz
printf 'some words\nof a text\n' | gzip -n >words.gz
run wte inspect words.gz
printf '\1\2\3\4\5\6\7\10\11' | gzip -n >bytes.gz
run wte inspect bytes.gz
printf '\1\2\3\4\5\6\7\10\11' >embeddings.annoy
run wte inspect embeddings.annoy
run wte lookup embeddings.annoy 1
run wte check embeddings.annoy
cp "$DATA/npy/deflated.npz" .
run wte inspect deflated.npz
