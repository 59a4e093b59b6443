# A comma that has no field before or behind it is an error, wherever lists are read; brackets and blanks are none.
. "$DATA/../cli/lib.sh"
for list in -0.4,,0.9 ,1,2,3 1,2,3, '1 , , 2' '[1, 2,]' '[[1, 2, 3], , [1, 2, 3]]' , '[]'; do
    run wte diagnose demo --id 1 --observed="$list"
done
run wte logits demo --hidden 1,,3
run wte near demo --vector 1,,3
run wte logits demo --hidden 1,2,3 --ids 1,,2
run wte gradcheck demo 1 2 --targets 1,,2
run wte gradcheck demo 1 2 --op lookup --d-out 1,,2
run wte check demo --only NAN,,ZERO
run wte check demo --tokens 1,,2
printf '1,,2\n' > ids
run wte lookup demo --ids ids
printf '1,2\n3,\n' > ids
run wte lookup demo --ids ids
printf ',1\n' > ids
run wte lookup demo --ids ids
# well-formed ones: a comma may end a line when a number follows
printf '1, 2,\n3\t4\r\n 5' > ids
wte lookup demo --ids ids | head -2
wte logits demo --hidden '[[1, 2 ,3 ] ]' --top 1 | tail -1
wte logits demo --hidden '1 2	3' --top 1 | tail -1
wte logits demo --hidden 1,2,3 --ids '0, 1 2' | tail -1
