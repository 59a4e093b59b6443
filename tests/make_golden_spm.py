#!/usr/bin/env python3
"""Train the small sentencepiece models of tests/data/spm, and list their pieces (PyPI sentencepiece 0.2.x).

usage: make_golden_spm.py OUTPUT_DIRECTORY

Beside NAME.model lies NAME.txt: a line "KIND HEX" for each piece, in order; kinds are sentencepiece's numbers.
"""
import io
import pathlib
import sys

import sentencepiece as spm

TEXT = """the table maps a token to its row and the row to a vector
a lookup is retrieval and no arithmetic at all: rows count from zero
café naïve über straße 雪 и the rest of the words that are not English
one matrix may serve as the table of inputs and as the head of outputs
"""
COMMON = {
    "normalization_rule_name": "identity",
    "hard_vocab_limit": False,
    "num_threads": 1,
    "minloglevel": 2,
}
MODELS = {
    "unigram": {"model_type": "unigram", "vocab_size": 60, "user_defined_symbols": ["<mask>"], "pad_id": 3},
    "bytes": {"model_type": "bpe", "vocab_size": 320, "byte_fallback": True, "character_coverage": 0.98},
}


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, options in MODELS.items():
        # a writer and an iterator, since names of files would go into the model
        made = io.BytesIO()
        spm.SentencePieceTrainer.train(sentence_iterator=iter(TEXT.splitlines() * 3), model_writer=made, **COMMON, **options)
        (out / f"{name}.model").write_bytes(made.getvalue())
        model = spm.SentencePieceProcessor(model_proto=made.getvalue())
        lines = []
        for i in range(model.get_piece_size()):
            piece = model.id_to_piece(i)
            kind = 2 if model.is_unknown(i) else 3 if model.is_control(i) else 5 if model.is_unused(i) else 6 if model.is_byte(i) else 1
            kind = 4 if piece in options.get("user_defined_symbols", []) else kind
            lines.append(f"{kind} {piece.encode().hex()}\n")
        (out / f"{name}.txt").write_text("".join(lines))


main()
