# docs/check.md has a line for every code, with its level, and no other.
page="$DATA/../../docs/check.md"
wte check --codes > codes
while read -r level code why; do
    [ "$(grep -c "^| \`$code\` | $level | " "$page")" = 1 ] || echo "$code: not once in check.md as $level"
done < codes
grep -o '^| `[a-z0-9-]*` | [a-z]* |' "$page" | tr -d '|`' | while read -r code level; do
    grep -q "^$level  *$code " codes || echo "$code: in check.md as $level, but no code"
done
