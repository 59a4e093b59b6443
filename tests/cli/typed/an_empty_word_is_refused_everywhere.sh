# Exit 2 by every command, for every word and every option that takes a value.
tried=0
for command in $(wte help --list); do
    code=0
    wte "$command" '' > out 2> err || code=$?
    [ "$code" = 2 ] && grep -q 'empty word' err && [ ! -s out ] || echo "$command '': exit $code: $(cat err)"
    for option in $(wte "$command" --help | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\) [^ ].*/\2/p'); do
        wte "$command" --help | grep -q -- "$option [A-Z<a-z0-9]*[A-Z|]" || continue
        tried=$((tried + 1))
        for form in "$option=" "$option"; do
            code=0
            if [ "$form" = "$option" ]; then wte "$command" demo "$option" '' > out 2> err || code=$?
            else wte "$command" demo "$form" > out 2> err || code=$?; fi
            case $(cat err) in
            *"takes no value"*) ;;
            *"$option is given an empty word"*) [ "$code" = 2 ] || echo "$command $form: exit $code" ;;
            *) echo "$command $form '': exit $code: $(cat err)" ;;
            esac
        done
    done
done
[ $tried -gt 80 ] || echo "only $tried options tried"
wte '' || echo "exit $?"
