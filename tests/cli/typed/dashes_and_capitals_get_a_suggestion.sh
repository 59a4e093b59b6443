# What editors make of a dash or a minus, and what capital letters make of a name.
. "$DATA/../cli/lib.sh"
run wte LOOKUP demo
run wte --HELP
run wte —version
run wte -v lookup
run wte lookup demo 1 --JSON
run wte lookup demo 1 -V
run wte lookup demo 1 -json
run wte lookup demo 1 —json
run wte lookup demo 1 ––json
run wte lookup demo 1 −−threads=2
run wte lookup demo 1 ‐o x
run wte lookup demo −1
run wte near demo --top −3 1
run wte diagnose demo --id 1 --observed −0.4,0.9,1
run wte logits demo --hidden 1,2,−3
run wte gradcheck demo 1 2 --targets 1,−2
run wte logits demo --hidden 1,2,3 --ids 1,−2
# behind -- they are words, and so is a dash that no option follows
run wte lookup demo -- —json
run wte lookup demo —
