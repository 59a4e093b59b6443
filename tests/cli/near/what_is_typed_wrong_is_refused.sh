. "$DATA/../cli/lib.sh"
run wte near demo
run wte near demo 3 2
run wte near demo 3 +
run wte near demo 3 + - 2
run wte near demo '3 - 2'
run wte near demo --token 3 + 2
run wte near demo 3 --vector 1,2,3
run wte near demo --vector 1,2,3 --include-terms
run wte near demo 3 --top 0
run wte near demo 3 --metric manhattan
run wte near demo 6
run wte near demo -1
run wte near demo king
run wte near demo 3 --exclude-special
