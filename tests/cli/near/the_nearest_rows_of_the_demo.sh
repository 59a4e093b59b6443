# By every metric; the row itself only when it is asked for, and then with cosine 1 and distance 0.
wte near demo 3
wte near demo 3 --metric dot --top 2
wte near demo 3 --metric euclid --top 2
wte near demo 3 --include-terms --top 1
wte near demo 3 --include-terms --top 1 --metric euclid
