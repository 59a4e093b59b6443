# Text tables as pandas, NumPy, R, spreadsheets and others print them: the same seven rows, or a refusal with the choice.
. "$DATA/../cli/lib.sh"
exec 2>&1
python3 -B - << 'END'
import pathlib
words = "the of and cat to in <unk>".split()
rows = [[i + (j + 1) / 16 for j in range(5)] for i in range(7)]
texts = [[f"{x:g}" for x in row] for row in rows]
def put(name, lines): pathlib.Path(name).write_text("".join(line + "\n" for line in lines))
def keyed(between, keys, end=""): return [between.join([str(k), *t]) + end for k, t in zip(keys, texts)]
def bare(between): return [between.join(t) for t in texts]
dims = [f"dim_{j}" for j in range(5)]
put("reset_index.csv", [",".join(["index", *dims]), *keyed(",", range(7))])
put("token_id.csv", [",".join(["token_id", *dims]), *keyed(",", range(100, 107))])
put("token_id.tsv", ["\t".join(["token_id", *dims]), *keyed("\t", range(100, 107))])
put("user_id.txt", [" ".join(["user_id", *dims]), *keyed(" ", range(100, 107))])
put("token_id_noheader.csv", keyed(",", range(100, 107)))
put("trailing_comma.csv", keyed(",", words, ","))
put("index_false.csv", ["0,1,2,3,4", *bare(",")])
put("index_false.tsv", ["0\t1\t2\t3\t4", *bare("\t")])
put("index_false.txt", ["0 1 2 3 4", *bare(" ")])
put("columns_from_1.csv", ["1,2,3,4,5", *bare(",")])
put("columns_as_floats.csv", ["0.0,1.0,2.0,3.0,4.0", *bare(",")])
put("quoted.csv", [",".join(f'"{x}"' for x in [w, *t]) for w, t in zip(words, texts)])
put("brackets.txt", [f"{w} [{', '.join(t)}]" for w, t in zip(words, texts)])
put("write_table.txt", [" ".join(f'"V{j + 1}"' for j in range(5)), *keyed(" ", [f'"{w}"' for w in words])])
put("write_table.tsv", ["\t".join(f'"V{j + 1}"' for j in range(5)), *keyed("\t", [f'"{w}"' for w in words])])
put("savetxt_header.txt", ["# 7 5", *[" ".join(f"{x:.18e}" for x in row) for row in rows]])
put("word_named.txt", ["word 0 1 2 3 4", *keyed(" ", words)])
put("unk_first.txt", ["<unk> 0.0 0.0 0.0 0.0 0.0", *keyed(" ", words[:6])])
put("years.txt", keyed(" ", [1.5, 2.5, 3.5, 10.0, 20.0, 30.5, 40.5]))
put("libsvm.txt", [" ".join([str(i), *[f"{j + 1}:{x}" for j, x in enumerate(t)]]) for i, t in enumerate(texts)])
put("semicolon.csv", [";".join([w, *[x.replace(".", ",") for x in t]]) for w, t in zip(words, texts)])
put("semicolon_title.csv", ["wort;1;2;3;4;5", *[";".join([w, *[x.replace(".", ",") for x in t]]) for w, t in zip(words, texts)]])
put("vector_in_a_cell.tsv", [f"{w}\t{' '.join(t)}" for w, t in zip(words, texts)])
put("counts.txt", [f"{w} {1061396 - i}" for i, w in enumerate(words)])
put("pieces.vocab", ["<unk>\t0", "<s>\t0", "</s>\t0", *[f"▁{w}\t{-2.5 - i}" for i, w in enumerate(words[:6])]])
END
for file in *.csv *.tsv *.txt *.vocab; do
    echo "$ $file"
    if wte lookup "$file" 0 6 -q > out; then sed '1,/^$/d' out; else echo "exit $?"; fi
done
for keys in none first; do wte lookup years.txt 6 --keys $keys -q | sed 1,3d; done
