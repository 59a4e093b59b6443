# Ids that are not places in the vocabulary's file: Pegasus, XLM-R, CamemBERT, fairseq, InternLM2. Row r holds the number r.
. "$DATA/../cli/lib.sh"
exec 2>&1
python3 -B "$DATA/../cli/foreign/make.py" vocabularies
for model in pegasus pegasus_unsaid; do
    echo "$ $model"
    rows $model 0 1 2 3 4 104 105 106 109
    rows $model ' cat' s '<unk_2>'
done
for model in pegasus_offset_0 xlmr xlmr_tokenizer xlmr_unsaid xglm camembert; do
    echo "$ $model"
    rows $model 0 1 2 3 4 5 6
    rows $model ' cat'
done
rows xlmr 8
rows camembert 11
rows xglm 14
for model in ours counts_unsaid; do
    echo "$ $model"
    rows $model ' cat'
    wte inspect $model | grep vocab
    codes $model
done
for model in phobert fairseq counts_by_size; do
    echo "$ $model"
    rows $model 0 1 3 4 5 8
    rows $model 'là' 'nhà@@'
    codes $model
done
rows phobert 9 '<mask>'
rows fairseq '<mask>'
for model in internlm internlm_zero; do
    echo "$ $model"
    rows $model 4 5 7 8 | sed 's/".*"/& .../; s/\.\.\. .*/.../'
    rows $model '<|im_start|>' | wc -l
    codes $model
    codes $model --template $model/chat.jinja
done
wte check internlm_zero --template internlm_zero/chat.jinja --json | python3 -c '
import json, sys
for finding in json.load(sys.stdin)["findings"]: print(finding["code"], finding.get("ids"))'
rows internlm '[UNUSED_TOKEN_146]'
