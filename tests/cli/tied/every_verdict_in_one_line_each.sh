# Ten models, one for each verdict and for the flag lying either way; not all are tied: exit 1.
python3 "$DATA/../cli/tied/make_models.py"
wte tied tied copy copy_untied one_bit flag_lies no_head headless two_types impossible input_only demo
