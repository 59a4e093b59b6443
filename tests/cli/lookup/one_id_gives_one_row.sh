# Shape [1, 3]: one vector with three numbers.
wte lookup demo 3
