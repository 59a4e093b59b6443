#!/usr/bin/python3
"""Write src/num/block_grids.c:  PYTHONPATH=<unpacked gguf wheel> /usr/bin/python3 scripts/dev/make_block_grids.py

The grids of the iq types are numeric constants of the format, which no rule yields. They are taken from the Python package
`gguf` (0.19.0, MIT; needs numpy), where they lie packed as hexadecimal text in quants.py, and written as one code an entry:
2 bits an element (3 in the iq3 grids), element 0 lowest. The tables that the codes expand to must have the sums noted here,
which were taken from the tables of the C sources of ggml, or this script fails.
"""
import hashlib
import pathlib

import numpy as np
from gguf import quants

# name in our source, class in gguf, entries, elements of an entry, bits of an element, sha256 of the expanded table
GRIDS = (
    ("iq2_xxs", quants.IQ2_XXS, 256, 8, 2, "05826b5d3e472a3a"),
    ("iq2_xs", quants.IQ2_XS, 512, 8, 2, "06e47aaca60b4dc1"),
    ("iq2_s", quants.IQ2_S, 1024, 8, 2, "e1aa1473412b0552"),
    ("iq3_xxs", quants.IQ3_XXS, 256, 4, 3, "46e35f5a997efdee"),
    ("iq3_s", quants.IQ3_S, 512, 4, 3, "bd1af4945a1717c6"),
    ("iq1_s", quants.IQ1_S, 2048, 8, 2, "07540ffc1aeaf6ad"),
)
COLUMNS = 150

HEAD = """\
/* The grids of the iq block types: data, written by scripts/dev/make_block_grids.py, which says from where (see also NOTICE).
 * An entry holds 8 or 4 small integers, one a byte, element 0 in the lowest. It is written as a code of 2 or 3 bits an
 * element, which picks the value; the codes of each grid increase. */
#include "num/block_grids.h"

/* clang-format off */
#define IQ2(k)     ((uint64_t)(8 + 17 * (k) + ((k) == 2)))    /* 8, 25, 43 */
#define IQ1(k)     ((uint64_t)(((k) + 255) & 255))            /* -1, 0, 1 */
#define IQ3_XXS(k) ((uint32_t)(4 + 8 * (k) + 2 * ((k) == 7))) /* 4, 12, ... 52, 62 */
#define IQ3_S(k)   ((uint32_t)(1 + 2 * (k)))                  /* 1, 3, ... 15 */
#define FOUR(f, c)  (f((c) & 3) | f((c) >> 2 & 3) << 8 | f((c) >> 4 & 3) << 16 | f((c) >> 6 & 3) << 24)
#define EIGHT(f, c) (FOUR(f, c) | FOUR(f, (c) >> 8) << 32)
#define WIDE(f, c)  (f((c) & 7) | f((c) >> 3 & 7) << 8 | f((c) >> 6 & 7) << 16 | f((c) >> 9 & 7) << 24)
"""
ENTRY = {"iq2_xxs": "EIGHT(IQ2, c)", "iq2_xs": "EIGHT(IQ2, c)", "iq2_s": "EIGHT(IQ2, c)", "iq1_s": "EIGHT(IQ1, c)",
         "iq3_xxs": "WIDE(IQ3_XXS, c)", "iq3_s": "WIDE(IQ3_S, c)"}


def codes_of(kind, entries, elements, bits, digest):
    kind.init_grid()
    grid = kind.grid.reshape(entries, elements)
    expanded = grid.astype(np.int8).tobytes()
    assert hashlib.sha256(expanded).hexdigest().startswith(digest), kind
    alphabet = [int(v) for v in kind.grid_map]
    codes = [sum(alphabet.index(int(v)) << bits * i for i, v in enumerate(row)) for row in grid]
    assert all(a < b for a, b in zip(codes, codes[1:])), kind
    return codes


def lines_of(codes):
    line = ""
    for code in codes:
        word = f"E({code:#x}),"
        if len(line) + len(word) > COLUMNS:
            yield line
            line = ""
        line += word
    yield line


def main():
    text = HEAD
    for name, kind, entries, elements, bits, digest in GRIDS:
        text += f"\n#define E(c) {ENTRY[name]}\nconst uint{8 * elements}_t wte__grid_{name}[{entries}] = {{\n"
        text += "\n".join(lines_of(codes_of(kind, entries, elements, bits, digest))) + "\n};\n#undef E\n"
    path = pathlib.Path(__file__).parents[2] / "src/num/block_grids.c"
    path.write_text(text)
    print(f"{path.name}: {text.count(chr(10))} lines, {len(text)} bytes")


main()
