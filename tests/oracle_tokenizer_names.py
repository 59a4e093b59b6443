#!/usr/bin/env python3
"""Token names of wte against the tokenizers library, id by id, both ways.

    oracle_tokenizer_names.py libwte.so TOKENIZER_JSON...

Exit 0: every file agrees. 1: some do not (they are printed). 77: no tokenizers package here.
"""
import ctypes
import json
import sys

try:
    import tokenizers
except ImportError:
    print("skipped: this Python has no tokenizers package")
    sys.exit(77)

SPECIAL_KINDS = (2, 3)  # WTE_TOKEN_ADDED, WTE_TOKEN_SPECIAL
NOT_FOUND = 9


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("sys_errno", ctypes.c_int32), ("where", ctypes.c_uint64),
                ("message", ctypes.c_char * 240)]


class Vocab:
    def __init__(self, library, path):
        self.lib, self.handle, self.error = ctypes.CDLL(library), ctypes.c_void_p(), Error()
        for name, result in [("raw_text", ctypes.c_void_p), ("text", ctypes.c_uint64), ("size", ctypes.c_uint64),
                             ("count", ctypes.c_uint64)]:
            getattr(self.lib, f"wte_vocab_{name}").restype = result
        status = self.lib.wte_vocab_open(path.encode(), None, ctypes.byref(self.handle), ctypes.byref(self.error))
        if status:
            raise SystemExit(self.error.message.decode())

    def size(self):
        return self.lib.wte_vocab_size(self.handle)

    def count(self):
        return self.lib.wte_vocab_count(self.handle)

    def kind(self, number):
        return self.lib.wte_vocab_kind(self.handle, ctypes.c_uint64(number))

    def raw_text(self, number):
        length = ctypes.c_uint64()
        at = self.lib.wte_vocab_raw_text(self.handle, ctypes.c_uint64(number), ctypes.byref(length))
        return ctypes.string_at(at, length.value).decode() if at else None

    def written(self, number):
        room = ctypes.create_string_buffer(4096)
        length = self.lib.wte_vocab_text(self.handle, ctypes.c_uint64(number), room, ctypes.c_uint64(len(room)))
        return room.raw[:length]

    def find(self, text):
        data, number = text.encode(), ctypes.c_uint64()
        status = self.lib.wte_vocab_find(self.handle, data, ctypes.c_uint64(len(data)), ctypes.byref(number), None,
                                         ctypes.byref(self.error))
        return None if status == NOT_FOUND else number.value


def compare(library, path):
    """What differs, as lines; and how many ids were compared."""
    ours, theirs, wrong = Vocab(library, path), tokenizers.Tokenizer.from_file(path), []
    # a decoder that only undoes the spelling of one token, so that its text is the token's
    with open(path, encoding="utf-8") as file:
        decoder = json.load(file).get("decoder") or {}
    decodes = decoder.get("type") in ("ByteLevel", "Sequence")
    if ours.count() != theirs.get_vocab_size(with_added_tokens=True):
        wrong.append(f"{ours.count()} tokens, not {theirs.get_vocab_size(with_added_tokens=True)}")
    for number in range(ours.size() + 3):
        text = theirs.id_to_token(number)
        if ours.raw_text(number) != text:
            wrong.append(f"id {number} is {ours.raw_text(number)!r}, not {text!r}")
        if text is None:
            continue
        if ours.find(text) != theirs.token_to_id(text):
            wrong.append(f"{text!r} is id {ours.find(text)}, not {theirs.token_to_id(text)}")
        decoded = theirs.decode([number], skip_special_tokens=False)
        got = ours.written(number).decode(errors="replace")
        if decodes and ours.kind(number) not in SPECIAL_KINDS and got != decoded:
            wrong.append(f"id {number} is written {got!r}, not {decoded!r}")
    return wrong, ours.size()


def main():
    failed = False
    for path in sys.argv[2:]:
        wrong, ids = compare(sys.argv[1], path)
        print(f"{path}: {ids} ids, {len(wrong)} differ")
        for line in wrong[:20]:
            print("   ", line)
        failed |= bool(wrong)
    return 1 if failed else 0


sys.exit(main())
