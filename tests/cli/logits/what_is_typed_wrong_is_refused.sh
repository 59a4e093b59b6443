. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/logits/make_models.py"
run wte logits demo
run wte logits demo --hidden 1,0,0 --id 3
run wte logits demo --hidden 1,0,0 --token
run wte logits demo --hidden 1,0,0 --raw --as-model
run wte logits demo --hidden 1,0,0 --as-model
run wte logits demo --hidden 1,0,0 --top 0
run wte logits demo --hidden 1,0,0 --top 65537
run wte logits demo --hidden 1,0,0 --top 2 --ids 3
run wte logits demo --hidden 1,0,0 --sample --ids 3
run wte logits demo --hidden 1,0,0 --sample -o l.npy
run wte logits demo --hidden 1,0,0 --json -o l.npy
run wte logits demo --hidden 1,0,0 --force
run wte logits demo --hidden 1,0,0 --ids-type u16
run wte logits demo --hidden - --ids -
run wte logits demo --hidden 1,0,0 --seed 3
run wte logits demo --hidden 1,0,0 --sample --temperature -1
run wte logits demo --hidden 1,0,0 --sample --temperature nan
run wte logits demo --hidden 1,0,0 --sample --temperature 1e-60
run wte logits demo --hidden 1,0,0 --sample --temperature 1e60
run wte logits demo --hidden 1,0,0 --sample --top-p 1.5
run wte logits demo --hidden 1,0,0 --sample --min-p -0.5
run wte logits demo --hidden 1,x,0
run wte logits demo --hidden ''
run wte logits demo --hidden 1,0,0 --ids 3,-5
run wte logits demo --hidden 1,0,0 --ids -1
run wte logits demo --hidden 1,0,0 --ids 3-5
run wte logits demo --hidden nan,0,0 --sample
run wte logits demo --hidden 1,0,0 --precision double
run wte logits demo --id king
# the head was lost: nothing is put in its place unless it is asked for
run wte logits lost --hidden 2,0
run wte logits lost --hidden 2,0 --raw --ids 0
run wte logits lost --hidden 2,0 --head model.embed_tokens.weight --ids 0
run wte logits lost --hidden 2,0 --head lm_head
