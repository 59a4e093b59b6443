"""Seeds of fuzz_pattern: patterns as quantisation configs have them, a NUL byte, and a module's path."""


def seeds_pattern():
    texts = {
        "lm_head": (b"lm_head", b"lm_head"),
        "end": (b".*\\.embed_tokens$", b"model.embed_tokens"),
        "layers": (b"^model\\.layers\\.[0-9]+\\..*proj", b"model.layers.12.self_attn.q_proj"),
        "inverted": (b"[^a-c\\]]?x*y+\\d\\w", b"dxxyy1_"),
        "lazy": (b".*?down", b"model.down"),
        "group": (b"model.(a|b)", b"model.a"),
        "broken_set": (b"[abc", b"a"),
        "broken_escape": (b"a\\", b"a"),
        "many": (b"a" * 70, b"a" * 70),
        "no_text": (b"", b""),
    }
    for name, (pattern, text) in texts.items():
        yield name, pattern + b"\0" + text
    yield "no_cut", b"lm_head"
