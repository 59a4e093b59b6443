# How words and options are told apart, with lookup as the example.
. "$DATA/../cli/lib.sh"
run wte lookup demo -1
run wte lookup -- demo 3
run wte lookup demo 3 --dtype=f64 --raw --output=out
od -An -tx8 -w24 out
run wte lookup demo 3 --raw -oout
run wte lookup demo 3 --raw=yes
run wte lookup demo 3 --dtype
run wte lookup demo 3 -x
run wte lookup demo 3 --dtype f16 --dtype f64
run wte lookup demo 3 --tensro x
run wte lokup
wte 2>&1 | head -1
