# The list that tests and completion read has no doubles, and each command has its own help.
wte help --list | sort | uniq -d
for command in $(wte help --list); do
    wte "$command" --help > one || echo "$command --help: exit $?"
    wte help "$command" > other || echo "help $command: exit $?"
    cmp one other
    head -1 one | grep -q "^usage: wte $command " || echo "$command: no usage line"
    wte --help | grep -q "^  $command " || echo "$command: not in the overview"
done
