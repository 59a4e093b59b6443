# Lists and the manual page are about everything: a word beside them is a mistake.
. "$DATA/../cli/lib.sh"
run wte help --list lookup
run wte help --man lookup
run wte help --list --man
run wte help lookup near
run wte check --codes demo
run wte version now
run wte --version now
