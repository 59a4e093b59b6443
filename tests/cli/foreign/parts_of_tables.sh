# Parts of one table as five programs store them: two, three, a padded last one; uneven ones, holes and lone ones are refused.
. "$DATA/../cli/lib.sh"
exec 2>&1
python3 -B "$DATA/../cli/foreign/make.py" parts
for scheme in trtllm neox megatron vllm deepspeed; do
    for case in two three padded; do
        wte inspect ${scheme}_$case | sed -n '1s/,[^,]*$//p; s/^  input/&/p'
        rows ${scheme}_$case 0 4 7
        codes ${scheme}_$case
    done
    wte trace ${scheme}_three 7 | sed -n 's/, bytes.*//; s/^  file  */  /p'
    wte tied ${scheme}_three -q | head -n 1
    for case in uneven hole; do
        echo "$ ${scheme}_$case"
        refusals ${scheme}_$case
    done
done
# any of the files or folders of parts is the whole; one alone, put aside, is not
for part in trtllm_three/rank2.safetensors neox_three/layer_00-model_02-model_states.pt megatron_three/mp_rank_02 \
    vllm_three/model-rank-1-part-0.safetensors deepspeed_three/mp_rank_01_model_states.pt; do
    echo "$ $part"
    rows $part 0 8
    mkdir alone
    cp -r $part alone/
    refusals alone
    rm -r alone
done
