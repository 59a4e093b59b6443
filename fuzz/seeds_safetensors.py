"""Seeds of the safetensors target: whole files, and headers followed by two bytes that say how much data follows."""
import json
import struct


def entry(dtype, shape, begin, end, **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def header_of(header, n_data):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return text + struct.pack("<H", n_data)


def seeds_safetensors():
    demo = {"__metadata__": {"format": "pt"}, "wte.weight": entry("F32", [6, 3], 0, 72), "b": entry("BF16", [2], 72, 76)}
    yield "demo", file_of(demo, bytes(range(76)))
    yield "demo_header", header_of(demo, 76)
    yield "none", file_of({})
    yield "types", header_of({
        "a": entry("BOOL", [1], 0, 1), "b": entry("F4", [2, 2], 1, 3), "c": entry("F6_E2M3", [4], 3, 6), "d": entry("C64", [], 6, 14),
        "e": entry("F8_E4M3", [0, 7], 14, 14), "f": entry("I64", [1, 2, 1], 14, 30), "g": entry("U16", [3, 1], 30, 36),
    }, 36)  # fmt: skip
    yield "unordered", header_of({"z": entry("U8", [2], 2, 4), "a": entry("U8", [2], 0, 2, extra=[{"x": None}])}, 4)
    yield "escaped", header_of(rb'{"\u0041\n\u0000\ud83d\ude00":{"dtype":"\u00558","shape":[1],"data_offsets":[0,1]}}  ', 1)
    yield "duplicate", header_of(b'{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}', 1)
    yield "overlap", header_of({"a": entry("U8", [32], 0, 32), "b": entry("U8", [32], 16, 48)}, 48)
    yield "hole", header_of({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 3, 5)}, 5)
    yield "short", header_of({"a": entry("F32", [100, 100], 0, 8)}, 8)
    yield "wraps", header_of({"a": entry("F32", [1 << 32, 1 << 32], 0, 0)}, 0)
    yield "cut", header_of({"a": entry("F32", [4], 0, 16)}, 15)
    yield "trailing", header_of({"a": entry("F32", [4], 0, 16)}, 17)
    yield "one_offset", header_of({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4]}}, 4)
    yield "reversed", header_of({"a": entry("F32", [1], 4, 0)}, 4)
    yield "metadata_null", header_of({"__metadata__": None}, 0)
    yield "metadata_number", header_of({"__metadata__": {"a": 1}}, 0)
    yield "length_2_63", struct.pack("<Q", 1 << 63) + b"{}"
    yield "length_zlib", struct.pack("<Q", 0x9C78) + b"{}" + b" " * 100
    yield "index", b'{"metadata":{"total_size":8},"weight_map":{"a":"model-00001-of-00002.safetensors","b":"../x"}}'
    yield "error_page", b'{"error":"Repository not found"}'
    yield "lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:4665a5ea\nsize 438400\n"
    yield "html", b"<!DOCTYPE html><html><body>404</body></html>"
    yield "zip", b"PK\x03\x04" + bytes(22) + b"\x05\0\0\0x.npy"
    yield "pickle", b"\x80\x02}q\x00."
