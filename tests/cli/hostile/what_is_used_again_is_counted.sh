# Two bytes of a pickle make a text of 65,000 be looked at once more: what is looked at is bounded, not how often.
. "$DATA/../cli/lib.sh"
python3 -B "$DATA/../cli/hostile/again.py"
for file in *.pt legacy.bin; do run wte inspect $file; done 2>&1 | sed 's/kkkk*/k.../g; s/\(model\.\)\1*/model./g'
