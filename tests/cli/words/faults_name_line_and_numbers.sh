# What a text says and does not hold, and what stands where a number should: exit 3. Other formats are named: exit 4.
. "$DATA/../cli/lib.sh"
exec 2>&1
printf '3 2\na 1 2\nb 1 2\n' > few.vec
printf 'a 1 2\nb 1\nc 1 2\n' > uneven.txt
printf '2 2\na 1 x\nb 1 2\n' > word.vec
printf '2 1\na \1\2\3\4\nb \1\2\3' > cut.bin
printf '\010\007\022\007pytorch\032\0031.9:\004\n\000\n\000' > model.onnx
for file in few.vec uneven.txt word.vec cut.bin model.onnx; do run wte lookup "$file" 0; done
