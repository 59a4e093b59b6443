"""Seeds of the token names target: a byte that chooses the kind of file, then the file."""
import json
import pathlib

TOKENIZER, MAP, LINES, TEKKEN = b"\x00", b"\x01", b"\x02", b"\x03"


def tokenizer(model, added=(), **parts):
    added = [{"id": i, "content": text, "special": i % 2 == 0} for i, text in added]
    return TOKENIZER + json.dumps({"version": "1.0", "added_tokens": added, **parts, "model": model}).encode()


def seeds_vocab():
    data = pathlib.Path(__file__).resolve().parent.parent / "tests/data/vocab"
    for path in sorted(data.glob("*.json")):
        yield path.stem, TOKENIZER + path.read_bytes()
    byte_level, metaspace = {"type": "ByteLevel"}, {"type": "Metaspace", "replacement": "▁"}
    yield "both_forms", tokenizer({"vocab": {"Ġ": 0, "Äł": 1, "x": 9}}, [(4, "Ġ"), (9, "x")], decoder=byte_level)
    yield "two_spaces", tokenizer({"vocab": {"▁a": 0, " a": 1, "▁b c": 2}}, [(3, "▁a")], pre_tokenizer=metaspace)
    yield "pieces", tokenizer({"vocab": [["a", 0], ["a", -1], ["<0x0A>", -2.5]], "byte_fallback": True})
    yield "pieces_bad", tokenizer({"vocab": [["a", 0], ["b"]]})
    yield "clash", tokenizer({"vocab": {"a": 1}}, [(1, "b")])
    yield "map", MAP + b'{"a":0,"\\u0120b":1,"##c":7,"":3}'
    yield "map_far", MAP + b'{"a":1048576}'
    yield "map_hostile", MAP + b'{"a":4000000000,"b":1152921504606846976}'
    yield "map_float", MAP + b'{"a":1.0}'
    yield "lines", LINES + b"[PAD]\nthe\r\n##ing\n\nthe\nlast"
    yield "lines_nul", LINES + b"a\0b\n"
    yield "lines_latin1", LINES + b"caf\xe9\n"
    yield "bytes", LINES + b"".join(b"<0x%02X>\n" % b for b in range(256))
    yield "pointer", LINES + b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    config = {"default_vocab_size": 6, "default_num_special_tokens": 4, "version": "v3"}
    ranks = [{"rank": 0, "token_bytes": "AA=="}, {"rank": 1, "token_bytes": "4pY="}, {"rank": 2, "token_bytes": "IHRo"}]
    yield "tekken", TEKKEN + json.dumps({"config": config, "vocab": ranks}).encode()
    special = [{"rank": 0, "token_str": "<s>", "is_control": False}]
    yield "tekken_specials", TEKKEN + json.dumps({"config": config, "vocab": ranks, "special_tokens": special}).encode()
    yield "counted", LINES + b"the 12\nb c 7\n"
    yield "words", b"\x04" + json.dumps({"vocab": ["a", "b c"], "stop_words": []}).encode()
    yield "metadata", b"\x06count\tword\r\n3\tking\n2\told man\n1\n"
    yield "metadata_one_column", b"\x06king\nqueen\n"
    yield "keys", b"\x05\x82\xcf" + bytes(range(1, 9)) + b"\x01\xcd\x01\x90\x00"
