# A mistyped option is answered with the nearest one, on stderr.
wte help --lsit
