#!/usr/bin/env python3
"""wte_rowwise_encode and the rows that come back against NumPy: FBGEMM's reference quantisation said once more.

    oracle_rowwise.py libwte.so

Every type, random rows of many ranges, rows aligned and tight; codes, scale and bias bit for bit. Exit 0: all equal;
1: some differ (they are printed); 77: no NumPy here.
"""
import ctypes
import sys

import oracle_wte as wte

# name: number, bits, type of scale and bias, whether they come first
TYPES = {
    "row8_f32": (1001, 8, "f4", False),
    "row8": (1002, 8, "f2", False),
    "row4": (1003, 4, "f2", False),
    "row2": (1004, 2, "f2", False),
    "tbe8": (1005, 8, "f2", True),
    "tbe4": (1006, 4, "f2", True),
    "tbe2": (1007, 2, "f2", True),
}
RANGES = [1.0, 1e-3, 1e-7, 30000.0, 0.0]


class Quantiser:
    def __init__(self, np, bits, scale_type, front):
        self.np, self.bits, self.scale_type, self.front = np, bits, scale_type, front
        self.full = bits == 8 and (front or scale_type == "f4")

    def least(self, rows):
        """The first of the least: of zeros of both signs NumPy's own minimum is any."""
        return rows[self.np.arange(rows.shape[0]), rows.argmin(1)]

    def full_scale(self, rows):
        """Scale and bias of f32, codes from the unrounded ones."""
        f32 = self.np.float32
        least, span = self.least(rows), rows.max(1) - rows.min(1)
        by = f32(255) / (span + f32(1e-8))
        codes = self.np.rint((rows - least[:, None]) * by[:, None])
        return span / f32(255), least, codes

    def half_scale(self, rows):
        """Codes are made from the scale and the bias that are stored."""
        np = self.np
        f16, f32 = np.float16, np.float32
        most = f32((1 << self.bits) - 1)
        bias = self.least(rows).astype(f16)
        span = rows.max(1) - bias.astype(f32)
        scale = np.where(span == 0, f32(1), span / most).astype(f16)
        scale = np.where(scale == 0, f16(1), scale)
        by = f32(1) / scale.astype(f32)
        codes = np.clip(np.rint((rows - bias.astype(f32)[:, None]) * by[:, None]), 0, most)
        return scale, bias, codes

    def encode(self, rows):
        np = self.np
        scale, bias, codes = (self.full_scale if self.full else self.half_scale)(rows)
        pair = np.stack([scale, bias], 1).astype("<" + self.scale_type).view(np.uint8)
        each = 8 // self.bits
        codes = np.pad(codes.astype(np.uint8), ((0, 0), (0, -codes.shape[1] % each)))
        packed = np.zeros((codes.shape[0], codes.shape[1] // each), np.uint8)
        for k in range(each):
            packed |= codes[:, k::each] << np.uint8(k * self.bits)
        return np.concatenate([pair, packed] if self.front else [packed, pair], 1)

    def decode(self, stored, cols):
        """In doubles, in which the product is exact; rounded to f32 twice at most."""
        np = self.np
        size = 2 * int(self.scale_type[1])
        pair = stored[:, :size] if self.front else stored[:, -size:]
        codes = stored[:, size:] if self.front else stored[:, :-size]
        pair = np.ascontiguousarray(pair).view("<" + self.scale_type).astype(np.float64)
        each = 8 // self.bits
        parts = [codes >> np.uint8(k * self.bits) & np.uint8((1 << self.bits) - 1) for k in range(each)]
        numbers = np.stack(parts, 2).reshape(codes.shape[0], -1)[:, :cols].astype(np.float64)
        return (numbers * pair[:, :1] + pair[:, 1:]).astype(np.float32)


def by_wte(np, library, number, rows, stride):
    """The stored rows, and what a lookup of all of them gives."""
    stored = np.full((rows.shape[0], stride), 0xA5, np.uint8)
    back = np.zeros_like(rows)
    source, storage = wte.Rows(), ctypes.create_string_buffer(64)
    library.call("rowwise_encode", number, rows.ctypes.data, *rows.shape, stored.ctypes.data, stride)
    library.call("row_source_from_rowwise", number, *rows.shape, stored.ctypes.data, stride, storage, ctypes.byref(source))
    ids = np.arange(rows.shape[0], dtype=np.int64)
    given = wte.Ids(data=ids.ctypes.data, type=wte.I64, count=ids.size)
    library.lookup(source, given, back.ctypes.data)
    return stored, back


def random_rows(np, noise, cols):
    rows = []
    for reach in RANGES:
        part = (noise.standard_normal((20, cols)) * reach).astype(np.float32)
        rows += [part, part + np.float32(noise.standard_normal() * 10)]
    return np.clip(np.concatenate(rows), -60000, 60000).astype(np.float32)


def differences(np, library, noise, name, cols):
    number, bits, scale_type, front = TYPES[name]
    quantiser = Quantiser(np, bits, scale_type, front)
    rows = random_rows(np, noise, cols)
    expected = quantiser.encode(rows)
    tight = expected.shape[1]
    wrong = 0
    for stride in (tight, (tight + 15) // 16 * 16):
        stored, back = by_wte(np, library, number, rows, stride)
        if not np.array_equal(stored[:, :tight], expected) or not (stored[:, tight:] == 0xA5).all():
            wrong += 1
            print(f"DIFFERENT {name} of {cols} columns, {stride} bytes a row: the stored rows")
        want = quantiser.decode(expected, cols)
        if not (np.abs(back - want) <= np.spacing(np.abs(want))).all():
            wrong += 1
            print(f"DIFFERENT {name} of {cols} columns, {stride} bytes a row: what comes back")
    return wrong


def main():
    try:
        import numpy as np
    except ImportError as missing:
        print(f"skipped: {sys.executable} has no NumPy ({missing})")
        return wte.SKIPPED
    noise = np.random.default_rng(20)
    library = wte.Library(sys.argv[1])
    wrong = 0
    for name in TYPES:
        for cols in (1, 2, 3, 4, 5, 7, 16, 31, 64, 100, 768):
            wrong += differences(np, library, noise, name, cols)
    print(f"{len(TYPES)} types, {wrong} differences from NumPy {np.__version__}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
