# The manual page is made from the same tables: each command and each of its options is in it.
wte help --man > page
for command in $(wte help --list); do
    grep -qx "\.SS wte $command" page || echo "$command: no section"
    wte "$command" --help | sed -n 's/^ .*--\([a-z-]*\) .*/\1/p' | sed 's/-/\\-/g' > names
    [ -s names ] || echo "$command: no options"
    while read -r name; do
        grep -qF -- "\\-\\-$name" page || echo "$command: no $name"
    done < names
done
