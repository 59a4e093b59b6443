# The index of a large text is kept. Two rows change places, and size and time of change stay as they were: the rows of the
# file are shown, not those of the index; a proof reads the file itself and keeps no index of its own.
. "$DATA/../cli/lib.sh"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
awk 'BEGIN { print "120000 20"; for (r = 0; r < 120000; r++) { s = "w" r; for (c = 0; c < 20; c++) s = s " " r ".25"; print s } }' > t.vec
touch -d 2020-01-01 t.vec
kept() { ls cache/wte 2> none | wc -l; }
wte trace t.vec 3 > out
echo "kept by trace: $(kept)"
wte lookup t.vec w60000 | tail -1 | cut -c1-30
echo "kept: $(kept)"
cp -p t.vec before
sed -e '60002s/^w60000 /w60001 /' -e '60003s/^w60001 /w60000 /' before > t.vec
touch -r before t.vec
wte lookup t.vec w60000 | tail -1 | cut -c1-30
wte trace t.vec w60000 | grep 'vector \|proof' | cut -c1-70
echo "kept: $(kept)"
# another file under the same name, in the same place, with the same size and times
cp -p before aside
mv aside t.vec
wte lookup t.vec w60000 | tail -1 | cut -c1-30
