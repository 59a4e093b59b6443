# Words are bytes: what is no UTF-8 is learned like others, told, and written with \xNN.
# Two words a line are too far apart to be learned: check finds the head that is still zero.
for i in $(seq 50); do printf 'a\377b caf\303\251 \303 plain\r\n'; done > text
wte train text -o out --dim 8 --threads 1 --min-count 5 > told
cat out/vocab.txt
wte lookup out 'a\xffb' --json | grep -c shape
wte check out -q > told
echo "exit $?"
