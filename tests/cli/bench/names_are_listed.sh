wte bench --list --memory 3072
wte bench --list --quick --memory 16 --only rows
