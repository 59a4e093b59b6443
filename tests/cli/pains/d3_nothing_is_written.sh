# Every command that looks leaves every file as it was, and makes none.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
rows = trained(40, 64)
rows[5] = [0.0] * 64
model("m", {EMBED: tensor(rows), HEAD: tensor(trained(40, 64))}, llama(40, 64), words(40))
END
state() { find m -printf '%p %m %s %T@\n' | sort; find m -type f -exec sha256sum {} + | sort; }
state > before
chmod -R a-w m
wte check m --glitch 5 > told
wte tied m > told
wte inspect -v m > told
wte lookup m 3 > told
wte trace m 3 > told
wte near m 3 > told
wte diff m m > told
wte lookup m 3 --npy -o got.npy
wte diagnose m --id 3 --observed got.npy > told
chmod -R u+w m
state > after
cmp before after && echo "all as it was"
