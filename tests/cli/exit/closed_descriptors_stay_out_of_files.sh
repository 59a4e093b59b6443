# With stdout and stderr closed, what would be printed must not land in the file that is written.
wte new --rows 2 --dim 2 -o want.npy > told
wte new --rows 2 --dim 2 -o t.npy >&- 2>&-
cmp t.npy want.npy
wte lookup demo 1 --raw -o row <&- >&- 2>&-
od -An -v -tx4 row
