# Training that diverges says so, exit 3, and writes no model.
for i in $(seq 2000); do echo "w$((i % 7)) w$((i % 11)) w$((i % 5)) w$((i % 13))"; done > text
wte train text -o out --dim 8 --lr 1000 --threads 1 -q
echo "exit $?"
ls
