# Heads of public reports: biases under many names, copies, draft heads, projections, bad rows, names that no rule knows.
. "$DATA/../cli/lib.sh"
exec 2>&1
python3 -B "$DATA/../cli/foreign/make.py" heads
best() { wte logits "$@" 2>&1 | sed -n 's/^wte logits: //p; s/^ *[0-9][0-9]*  *\([0-9][0-9]*\)  *\([-0-9.NaInf]*\) .*/\1: \2/p' | tr '\n' ' '; }
# the products are 3, 2 and 1; the bias adds 0, 0 and 5
for model in modernbert gpt2 phi phi_msft xlnet xlm gptj codegen roberta distilbert marian phi2.gguf phimoe.gguf qwen2.gguf; do
    echo "$model: $(best $model --hidden 1,0,0,0 --top 3)| none: $(best $model --hidden 1,0,0,0 --top 3 --bias none)"
done
echo 2 > target
for model in xlm phi2.gguf; do
    wte loss $model --hidden 1,0,0,0 --targets target | grep '^ *loss'
    wte loss $model --hidden 1,0,0,0 --targets target --bias none | grep '^ *loss'
done
for model in mlx_equal mlx_other; do
    echo "$ $model"
    rows $model 0 2 7
    wte lookup $model 2 7 --tensor lm_head.weight -q | sed '1,/^  *id/d'
    wte tied $model -q | head -n 2
    codes $model
done
for model in eagle eagle_ids eagle_repeats; do
    echo "$ $model: $(best $model --hidden 1,0,0,0 --top 5)"
    wte inspect $model | grep '^  rows' || true
    codes $model
done
for model in cpmant siglip text_only square opt unknown head_zeros head_nan head_nan_row head_same; do
    echo "$ $model"
    rows $model 0 2
    wte tied $model -q | head -n 2
    codes $model
done
rows cpmant 13
rows square 0 --tensor text_model.head.weight | wc -l
echo "opt: $(best opt --hidden 1,0,1,0 --top 3)"
for model in siglip text_only square; do run wte logits $model --hidden 1,0,0,0,0,0,0,0 -k 1; done
run wte logits unknown --hidden 1,0 -k 1
rows unknown 1 --tensor symbol_table
for model in head_nan head_nan_row; do run wte logits $model --hidden 1,0,0,0 -k 1; done
