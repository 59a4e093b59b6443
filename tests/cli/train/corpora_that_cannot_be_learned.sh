# Empty, one word, words too rare, a word too long, no text at all: what is wrong, and exit 3 or 4.
refuse() {
    wte train "$@" -o out --threads 1 -q
    echo "exit $?"
}
: > empty
refuse empty
printf '\n\n \n' > lines
refuse lines
for i in 1 2 3 4 5 6; do printf 'word '; done > one
refuse one
refuse one --min-count 7
echo "a b a b" > rare
refuse rare
head -c 5000 /dev/zero | tr '\0' w > long
refuse long
refuse none
mkdir folder
refuse folder
printf '\1\0\2\0\3' > odd
refuse odd --ids-type u16
printf '\1\0\0\0\377\377\377\377' > negative
refuse negative --ids-type i32
ls
