"""Seeds of the parts target: how many, which one differs and how, params.json, then three bytes for each tensor."""

TABLE, HEAD, NORM, W, V = range(5)


def model(*tensors, parts=4, params=b"", differs=(255, 0, W, 1, 1)):
    return bytes([parts - 2, *differs, len(params)]) + params + b"".join(bytes(t) for t in tensors)


def seeds_parts():
    rows, columns, norm = (TABLE, 4, 8), (TABLE, 12, 2), (NORM, 8, 0)
    yield "rows", model(rows, norm)
    yield "columns", model(columns, norm)
    yield "params", model(rows, (HEAD, 3, 8), (W, 8, 5), params=b'{"dim": 8, "vocab_size": -1}')
    yield "head", model(columns, (HEAD, 3, 8))
    yield "undecided", model(rows, norm, (W, 3, 3))
    yield "nothing", model(rows)
    yield "both", model((W, 8, 8), norm)
    yield "empty", model((TABLE, 0, 8), (W, 3, 0), norm, (V, 0, 0))
    yield "conflict", model(rows, norm, params=b'{"dim": 7}')
    yield "broken", model(rows, norm, params=b'{"dim": ')
    yield "other_shape", model(rows, norm, differs=(1, 0, TABLE, 3, 8))
    yield "other_name", model(rows, norm, differs=(2, 1, V, 8, 0))
    yield "twice", model(rows, norm, differs=(1, 1, TABLE, 8, 0))
    yield "two", model((TABLE, 5, 6), (HEAD, 5, 12), (NORM, 12, 0), parts=2)
