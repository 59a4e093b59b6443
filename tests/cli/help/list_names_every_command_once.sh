# The list that tests and completion read has no doubles; each command has its own help and its part of docs/cli.md.
wte help --list | sort | uniq -d
for command in $(wte help --list); do
    wte "$command" --help > one || echo "$command --help: exit $?"
    wte help "$command" > other || echo "help $command: exit $?"
    cmp one other
    head -1 one | grep -q "^usage: wte $command " || echo "$command: no usage line"
    grep -qx "### wte $command" "$DATA/../../docs/cli.md" || echo "$command: not in docs/cli.md"
    wte --help | grep -q "^  $command " || echo "$command: not in the overview"
done
