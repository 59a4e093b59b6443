"""Seeds of the checkpoint target: a byte for the trainer, one for how much is left out, then changes: a place of two bytes,
and what stands there."""
import struct

WORDS, TIED, UNTIED = range(3)
SPREAD = 6553  # so that ten places lie all over a file, wherever its parts are


def changes(*pairs):
    return b"".join(struct.pack("<HB", place, value) for place, value in pairs)


def seeds_checkpoint():
    for name, trainer in ("words", WORDS), ("tied", TIED), ("untied", UNTIED):
        kind = bytes([trainer])
        yield name, kind + b"\0"
        for left_out in (1, 128, 255):
            yield f"{name}_without_{left_out}", kind + bytes([left_out])
        for i in range(10):
            yield f"{name}_changed_{i}", kind + b"\0" + changes((i * SPREAD, 255))
        yield f"{name}_no_header", kind + b"\0" + changes((0, 0), (1, 0))
        yield f"{name}_other_settings", kind + b"\0" + changes(*((place, 0x31) for place in range(1500, 1540)))
