# Every class of fault of every format: a message that names the file, exit code 3 or 4, within one second and 64 MiB.
few=
if wte version --json | grep -q '"sanitizer": "'; then few=--few; fi
python3 -B "$DATA/../cli/hostile/check_all.py" broken $few
