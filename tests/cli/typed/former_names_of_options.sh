# The former name of a renamed option is accepted, does the same, and is not in the help.
. "$DATA/../cli/lib.sh"
same() { # FORMER NAME COMMAND...: the command's output with `--FORMER` in place of `@` is that with `--NAME`
    former=$1 name=$2
    shift 2
    for option in "$former" "$name"; do
        words=$(printf '%s\n' "$@" | sed "s/^@\$/--$option/")
        # shellcheck disable=SC2086 # a word a line, none of them with blanks
        wte $words > "$option.out" 2> "$option.err" || echo "exit $?" >> "$option.out"
    done
    if cmp "$former.out" "$name.out" && cmp "$former.err" "$name.err"; then echo "--$former is --$name$(sed -n "s/^exit/, exit/p" "$name.out")"; fi
    if wte "$1" --help | grep -q -- "--$former\b"; then echo "--$former is shown"; fi
}
royal
printf 'the cat sat on the mat and the dog sat on the log\n%.0s' 1 2 3 4 5 6 7 8 > text
lm="train text -o out -q --method lm --context 2 --hidden 4 --epochs 1 --threads 1"
same got observed diagnose demo --id 3 @ 1,2,3
same spaced leading-space eval words.vec --similarity pairs.tsv @
same unknown oov lookup words.vec king @
# shellcheck disable=SC2086
same head output-layer $lm --dim 4 --min-count 1 @ tied
# shellcheck disable=SC2086
same no-lines no-eos $lm --dim 4 --min-count 1 @
# shellcheck disable=SC2086
same report-every log-every $lm --dim 4 --min-count 1 @ 2
# shellcheck disable=SC2086
same start init-from $lm @ words.vec
# shellcheck disable=SC2086
same valid-share valid-fraction $lm --dim 4 --min-count 1 @ 0.5
# shellcheck disable=SC2086
same warm-up warmup $lm --dim 4 --min-count 1 @ 2
