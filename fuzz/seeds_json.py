"""Seeds of the JSON target."""


def seeds_json():
    yield "empty", b""
    yield "header", b'{"__metadata__":{"format":"pt"},"wte.weight":{"dtype":"F32","shape":[6,3],"data_offsets":[0,72]}}'
    yield "config", b'{\n "vocab_size": 50257,\n "tie_word_embeddings": true, "x": null, "scale": -1.5e-3 }\n'
    yield "escapes", rb'["\u0120Hello","\ud83d\ude00","\"\\\/\b\f\n\r\t","\u0000"]'
    yield "python", b"[NaN, Infinity, -Infinity, 18446744073709551615, -9223372036854775808, 1E400]"
    yield "utf8", '["é","▁","😀", "\u2028"]'.encode()
    yield "deep", b"[" * 64 + b"]" * 64
    yield "too_deep", b"[" * 65
    yield "lone_surrogate", rb'"\ud800"'
    yield "latin1", b'"\xe9"'
    yield "numbers", b"[0,-0,01,1.,.5,1e,+1]"
    yield "cut", b'{"a":[1,{"b":"c'
