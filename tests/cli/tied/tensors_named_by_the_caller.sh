# --tensor and --head overrule the rules; an end of the name will do.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
run wte tied copy --tensor lm_head.weight --head wte
run wte tied copy --tensor wpe.weight
run wte tied copy --tensor lm_head.weight
