# The worked example: ids 2 3 5 1 of the built-in table.
wte lookup demo 2 3 5 1
