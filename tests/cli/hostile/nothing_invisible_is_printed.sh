# Characters that show nothing, or turn round what follows, are escaped in every text and every JSON that is printed,
# wherever they come from: names of tensors, tokens, config.json, files, words of the command line.
python3 -B "$DATA/../cli/hostile/invisible.py"
