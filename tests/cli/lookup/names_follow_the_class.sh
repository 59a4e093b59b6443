# Ids of tokens are those of the tokenizer's class, not places in its file; what is not known is told and not named.
. "$DATA/../cli/lib.sh"
mkdir m
wte new --rows 8 --dim 1 --seed 1 -o m/model.npy > told
printf '%s\n' 'the 900' 'of@@ 80' 'a b 7' > m/vocab.txt
echo '{"tokenizer_class": "PhobertTokenizer"}' > m/tokenizer_config.json
run wte lookup m 3 4 6 7 | cut -c1-14
run wte lookup m of@@ '<mask>' | cut -c1-14
echo '{"tokenizer_class": "OursTokenizer"}' > m/tokenizer_config.json
run wte lookup m 3 4 | cut -c1-14
run wte lookup m of@@
# pieces: <unk>, <s>, </s>, x
rm m/vocab.txt
{
    printf '\12\11\12\5<unk>\30\2'
    printf '\12\7\12\3<s>\30\3'
    printf '\12\10\12\4</s>\30\3'
    printf '\12\3\12\1x'
} > m/sentencepiece.bpe.model
run wte lookup m 0 | cut -c1-14
echo '{"tokenizer_class": "XLMRobertaTokenizer"}' > m/tokenizer_config.json
run wte lookup m 0 1 2 3 4 5 | cut -c1-14
