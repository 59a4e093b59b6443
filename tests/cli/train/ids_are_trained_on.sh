# Ids of a tokenizer, as .npy and raw: rows are ids, all of them.
python3 - <<'END'
import array

ids = array.array("H", [(i * i) % 23 for i in range(4000)])
open("ids.u16", "wb").write(ids.tobytes())
END
wte train ids.u16 --ids-type u16 -o out --dim 8 --threads 1 -q
wte lookup out 18 --json | grep -c shape
tail -1 out/vocab.txt
# Beside a table they are its rows, also where the largest of them is missing, and keep its words.
echo "the cat sat on the mat" > text
wte train text -o table --dim 4 --min-count 1 --threads 1 -q > told
printf '\001\000\000\000\002\000\001\000\000\000\002\000' > few.u16
for method in skip-gram lm; do
    wte train few.u16 --ids-type u16 --init-from table -o $method --method $method --threads 1 -q > told
    cmp table/vocab.txt $method/vocab.txt && wte lookup $method 5 --json | grep -c shape
done
wte train ids.u16 --ids-type u16 --init-from table -o beyond -q 2>&1
echo "exit $?"
