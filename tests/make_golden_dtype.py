#!/usr/bin/python3
"""Write tests/data/golden_dtype.txt:  /usr/bin/python3 tests/make_golden_dtype.py  (numpy 1.24, torch 1.13)

One line per conversion: from, to, the element's bits before and after (hex), and what was lost
(- nothing, o overflow, u underflow, i inexact). Values are exact fractions rounded here; where numpy
or torch converts with a single rounding too, they must agree, or this script fails.
"""
import pathlib
import random
from fractions import Fraction

import numpy as np
import torch

# name: (exponent bits, fraction bits, has infinities)
FLOATS = {
    "f64": (11, 52, True),
    "f32": (8, 23, True),
    "f16": (5, 10, True),
    "bf16": (8, 7, True),
    "f8_e4m3": (4, 3, False),
    "f8_e5m2": (5, 2, True),
}
INTEGERS = {f"{sign}{bits}": (sign == "i", bits) for bits in (8, 16, 32, 64) for sign in "iu"}
RANDOM = random.Random(20)


def float_bits(name):
    exponent, fraction, _ = FLOATS[name]
    return 1 + exponent + fraction


def bits_of(name):
    return float_bits(name) if name in FLOATS else INTEGERS[name][1]


def max_code(name):
    exponent, fraction, infinite = FLOATS[name]
    return ((1 << exponent) - 1 << fraction) - 1 if infinite else (1 << exponent + fraction) - 2


def code_value(name, code):
    """Of a finite code without sign; also of the one just past the largest."""
    exponent, fraction, _ = FLOATS[name]
    field, low = code >> fraction, code & (1 << fraction) - 1
    bias = (1 << exponent - 1) - 1
    unit = Fraction(2) ** (max(field, 1) - bias - fraction)
    return unit * (low + ((1 << fraction) if field else 0))


def float_code(name, value):
    """The nearest code to a value >= 0 by bisection over the codes, ties to the even one."""
    low, high = 0, max_code(name) + 1
    if value >= code_value(name, high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if code_value(name, middle) <= value else (low, middle)
    below, above = value - code_value(name, low), code_value(name, high) - value
    if below == above:
        return low if low % 2 == 0 else high
    return low if below < above else high


def to_float(name, value, negative):
    code = float_code(name, value)
    sign = int(negative) << float_bits(name) - 1
    if code > max_code(name):
        return sign | code, "o"  # the code past the largest is infinity, or e4m3's NaN
    if code_value(name, code) == value:
        return sign | code, "-"
    return sign | code, "i" if code else "u"


def to_integer(name, value, negative):
    signed, bits = INTEGERS[name]
    whole = round(value)  # of a Fraction: ties to even
    exact = whole == value
    whole = -whole if negative else whole
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    loss = "o" if not low <= whole <= high else "-" if exact else "i" if whole else "u"
    return min(max(whole, low), high) & (1 << bits) - 1, loss


def decode(name, bits):
    """Absolute value and sign; None for what is not finite."""
    if name in INTEGERS:
        signed, width = INTEGERS[name]
        value = bits - (1 << width) if signed and bits >> width - 1 else bits
        return Fraction(abs(value)), value < 0
    width = float_bits(name)
    code = bits & (1 << width - 1) - 1
    return (code_value(name, code), bool(bits >> width - 1)) if code <= max_code(name) else None


def peer(source, target, bits):
    """numpy's or torch's answer, where it rounds once; else None."""
    if target == "bf16" and source == "f32":
        value = torch.tensor(np.array([bits], np.uint32).view(np.float32)).bfloat16()
        return int(value.view(torch.int16)) & 0xFFFF
    names = {"f64": "float64", "f32": "float32", "f16": "float16"}
    names |= {n: ("int" if s else "uint") + str(w) for n, (s, w) in INTEGERS.items()}
    once = {("f64", "f32"), ("f64", "f16"), ("f32", "f16"), ("f16", "f32"), ("i64", "f64"), ("u64", "f64")}
    once |= {(n, "f32") for n in INTEGERS}
    if (source, target) not in once:
        return None
    width = np.dtype("uint%d" % bits_of(source))
    with np.errstate(all="ignore"):
        out = np.array([bits], width).view(names[source]).astype(names[target])
    return int(out.view("uint%d" % bits_of(target))[0])


def line(source, target, bits):
    value, negative = decode(source, bits)
    out, loss = (to_float if target in FLOATS else to_integer)(target, value, negative)
    other = peer(source, target, bits)
    assert other is None or other == out, (source, target, hex(bits), hex(out), hex(other))
    width, out_width = bits_of(source) // 4, bits_of(target) // 4
    return f"{source} {target} {bits:0{width}x} {out:0{out_width}x} {loss}"


def float_edges(name, n_random):
    """Codes around zero, the smallest normal number and the largest, and some others."""
    normal, top = 1 << FLOATS[name][1], max_code(name)
    edges = [0, 1, 2, normal - 1, normal, normal + 1, top - 1, top]
    return sorted(set(edges + [RANDOM.randrange(top) for _ in range(n_random)]))


def narrowing(source, target):
    """Values of the target, the middles between them, and the source's next numbers to these."""
    for code in float_edges(target, 10):
        low, high = code_value(target, code), code_value(target, code + 1)
        for value in (low, (low + high) / 2):
            exact = float_code(source, value)
            for near in (exact - 1, exact, exact + 1):
                if 0 <= near <= max_code(source):
                    yield line(source, target, RANDOM.getrandbits(1) << float_bits(source) - 1 | near)


def from_integers(source, target):
    signed, width = INTEGERS[source]
    digits = FLOATS[target][1] + 1
    top = width - signed
    values = {0, 1, (1 << top) - 1, 1 << digits, (1 << digits) + 1}
    for power in (digits + 1, digits + 2, top - 1):
        middle = (1 << power) + (1 << max(power - digits, 0))
        values |= {middle - 1, middle, middle + 1, 3 * middle // 2}
    for value in sorted(v for v in values if v < 1 << top):
        yield line(source, target, value)
        if signed:
            yield line(source, target, -value & (1 << width) - 1)


def to_integers(source, target):
    signed, width = INTEGERS[target]
    top = 1 << width - signed
    values = [Fraction(n, 4) for n in (0, 1, 2, 3, 6, 9, 10)]
    values += [top - Fraction(1, 2), top - Fraction(3, 4), top - 1, Fraction(top), top + Fraction(1, 2), top + 1, Fraction(10) ** 30]
    for value in values:
        code = float_code(source, value)
        for sign in (0, 1) if code <= max_code(source) else ():
            yield line(source, target, sign << float_bits(source) - 1 | code)


def between_integers(source, target):
    width, bits = INTEGERS[source][1], INTEGERS[target][1]
    for value in sorted({0, 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1, 1 << bits, (1 << width) - 1, 1 << width - 1}):
        if value < 1 << width:
            yield line(source, target, value)


def lines():
    for small in ("f8_e4m3", "f8_e5m2"):
        yield from (line(small, "f32", code) for code in range(256) if decode(small, code))
    for source in ("f64", "f32"):
        for target in ("f16", "bf16", "f8_e4m3", "f8_e5m2"):
            yield from narrowing(source, target)
    yield from narrowing("f64", "f32")
    for source, target in (("i32", "f32"), ("u32", "f32"), ("i64", "f32"), ("u64", "f32"), ("i64", "f64"), ("u64", "f64"),
                           ("i64", "f16"), ("u32", "bf16"), ("u16", "f16"), ("i8", "f8_e4m3")):
        yield from from_integers(source, target)
    for target in INTEGERS:
        yield from to_integers("f64", target)
    for source, target in (("f32", "i32"), ("f16", "i8"), ("f8_e5m2", "u8"), ("bf16", "u16")):
        yield from to_integers(source, target)
    for source, target in (("i64", "i8"), ("u64", "i64"), ("i64", "u64"), ("i8", "u16"), ("u32", "i32")):
        yield from between_integers(source, target)


def main():
    unique = list(dict.fromkeys(lines()))
    text = "\n".join(unique) + "\n"
    assert len(text) < 65536, len(text)
    (pathlib.Path(__file__).parent / "data/golden_dtype.txt").write_text(text)
    print(f"{len(unique)} conversions, {len(text)} bytes")


main()
