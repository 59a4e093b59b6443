# `| head` is no error worth a message: the command ends by SIGPIPE, as others do.
seq 0 5 > ids
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat ids ids > more && mv more ids; done
wte lookup demo --ids ids --full | head -2
