# --codes lists every fault with its level; a model is not needed.
wte check --codes | awk '{ print $1 }' | sort | uniq -c | awk '{ print $2, ($1 >= 10 ? "many" : $1) }'
wte check --codes | grep '^error rows-'
