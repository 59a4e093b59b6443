# Six numbers for a table of 6 x 3: a column, if it is one; else a length that does not fit.
. "$DATA/../cli/lib.sh"
run wte diagnose demo --id 1 --observed 0.3374,0.9178,1.2753,-0.4015,-1.1589,-2.8400
run wte diagnose demo --id 1 --observed 0.3374,0.9178,1.2753,-0.4015,-1.1589,-2.8500
run wte diagnose demo --id 1 --observed 1,2
