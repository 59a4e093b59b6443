# Word pairs and analogies against a table that can be done by hand.
. "$DATA/../cli/lib.sh"
royal
run wte eval words.vec --similarity pairs.tsv --similarity pairs.csv
run wte eval words.vec --similarity pairs.tsv --lower --quiet
run wte eval words.vec --analogy questions.txt
run wte eval words.vec --analogy questions.txt --lower --restrict 4
run wte eval words.vec --similarity pairs.csv --analogy questions.txt --json
