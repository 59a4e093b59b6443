# Codes, tokens, files and baselines that there are not.
. "$DATA/../cli/lib.sh"
run wte check
run wte check demo --only rows-nil
run wte check demo --only ,
run wte check demo --tokens 2,6
run wte check demo --tokens=-1
run wte check demo --tokens hello
run wte check demo --template chat.jinja
run wte check demo --baseline missing
printf 'rows-zero\tdemo\nrows-nil\tdemo\n' > wrong
run wte check demo --baseline wrong
run wte check "$DATA/static-f32" --template missing
run wte check demo --write-baseline missing/known
