# What was decided is a note on stderr, and the options decide otherwise; two readings that are alike are refused.
. "$DATA/../cli/lib.sh"
exec 2>&1
printf 'token_id,dim_0,dim_1\n100,0.0625,0.125\n101,1.0625,1.125\n102,2.0625,2.125\n103,3.0625,3.125\n' > t.csv
printf '0 0 0\n0.25 -1.5 2.125\n3 1 0.5\n' > m.txt
printf '1.5 0.0625 0.125\n20.5 1.0625 1.125\n30.5 2.0625 2.125\n' > years.txt
printf 'the 1061396\nof 593677\n' > counts.txt
printf 'word;x1;x2\nthe;0,5;0,25\nof;1,5;2\n' > de.csv
run wte lookup t.csv 1
run wte lookup t.csv --token 103
run wte lookup t.csv 1 --keys none -q
run wte lookup t.csv 1 --columns 3 -q
run wte lookup t.csv 0 --columns 2- --keys none --skip 2 -q
run wte lookup m.txt 0
run wte lookup years.txt 0
run wte lookup years.txt 0 --keys first
run wte lookup years.txt 0 --keys none
run wte lookup counts.txt 0
run wte lookup counts.txt 0 --columns 2
run wte lookup de.csv of
run wte lookup t.csv 0 --columns 2-9
run wte lookup t.csv 0 --columns x
run wte lookup t.csv 0 --columns 1- --keys first
run wte lookup t.csv 0 --keys last
run wte near t.csv 0 --top 1 --columns 2
run wte diff t.csv t.csv --keys none -q
