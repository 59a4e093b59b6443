# A share is one of a whole number of parts; when that is another one than was asked for, it is said.
for i in $(seq 100); do echo "a b c a d"; done > text
for share in 0.25 0.3 0.4; do
    wte train text -o out --method lm --dim 2 --min-count 1 --epochs 1 --valid-fraction $share --threads 1 2>&1 | grep "held out"
done
echo done
