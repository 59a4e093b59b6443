# Ids that have no row: all are counted, the first few named with position, value and the valid range; exit 2 when typed,
# 3 from a file. Nothing is written to stdout or to a file.
. "$DATA/../cli/lib.sh"
run wte lookup demo 6
run wte lookup demo 3 6 -1 4 100
run wte lookup demo 9223372036854775807
run wte lookup demo 9223372036854775808
echo 1 2 6 -7 > ids.txt
run wte lookup demo --ids ids.txt --raw -o out
seq 6 20 > many.txt
run wte lookup demo --ids many.txt
ls
