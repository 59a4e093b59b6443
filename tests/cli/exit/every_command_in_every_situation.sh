# The exit codes of cli/situations.def, by which docs/errors.md is made: every command comes into every situation it can.
python3 -B "$DATA/../cli/exit/situations.py" "$DATA/../../cli/situations.def"
