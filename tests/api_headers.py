"""Public functions, structs and enums as include/wte/*.h declares them.

A parser for the subset of C that those headers use. It refuses what it does not understand, so that a declaration in a
new form is an error and not left out.
"""
import pathlib
import re

INTEGERS = {"uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t", "int64_t", "size_t", "int", "char"}
REALS = {"float", "double"}


class Declared:
    """type: 'const wte_row_source *', 'uint64_t', ...; name; array: number of dimensions after the name."""

    def __init__(self, type_, name, array=0):
        self.type, self.name, self.array = type_, name, array


class Function:
    def __init__(self, result, name, params, header):
        self.result, self.name, self.params, self.header = result, name, params, header


def plain(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)


def split(text):
    """At commas outside of parentheses."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[at:i])
            at = i + 1
    return [p.strip() for p in parts + [text[at:]] if p.strip()]


def spaced(type_):
    return re.sub(r"\s*\*\s*", " *", " ".join(type_.split())).replace("* *", "**").strip()


def declared(text):
    text = " ".join(text.split())
    m = re.fullmatch(r"(.*)\(\*(\w+)\)\((.*)\)", text)  # a function's address
    if m:
        return Declared("function", m[2])
    m = re.fullmatch(r"(const char \*const) \(\*(\w+)\)\[2\]", text)  # pairs of texts
    if m:
        return Declared("const char *const (*)[2]", m[2])
    m = re.fullmatch(r"(.*?[\s*])(\w+)((?:\[\w+\])*)", text)
    if not m:
        raise SystemExit(f"api_headers.py: cannot read the declaration '{text}'")
    return Declared(spaced(m[1]), m[2], m[3].count("["))


def fields_of(body):
    """Fields of a struct; one struct may stand inside, whose fields are reached through its name."""
    body = re.sub(r"struct\s*\{[^{}]*\}\s*(\w+(?:\[\w+\])?)", r"wte__inner \1", body)
    out = []
    for line in body.split(";"):
        names = split(line)
        if not names:
            continue
        first = declared(names[0])
        out.append(first)
        for name in names[1:]:
            stars = len(name) - len(name.lstrip("*"))
            out.append(Declared(first.type.rstrip("* ") + (" " + "*" * stars if stars else ""), re.match(r"\**\s*(\w+)", name)[1], name.count("[")))
    return out


class Headers:
    def __init__(self, folder):
        self.functions, self.structs, self.enums, self.opaque = [], {}, set(), set()
        for path in sorted(pathlib.Path(folder).glob("*.h")):
            text = plain(path.read_text())
            for m in re.finditer(r"typedef struct (\w+) \{((?:[^{}]|\{[^{}]*\})*)\} (\w+);", text):
                self.structs[m[3]] = fields_of(m[2])
            self.enums |= set(re.findall(r"typedef enum (\w+) \{", text))
            self.opaque |= set(re.findall(r"typedef struct (\w+) \w+;", text))
            api = re.findall(r"\bWTE_API\s+(?:WTE_MUST_CHECK\s+)?([^;(]*?)(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;", text)
            if len(api) != len(re.findall(r"\bWTE_API\b", text)):
                raise SystemExit(f"api_headers.py: {path.name}: a declaration with WTE_API has an unknown form")
            for result, name, params in api:
                params = [] if params.strip() == "void" else [declared(p) for p in split(params)]
                self.functions.append(Function(spaced(result), name, params, path.name))

    def is_enum(self, type_):
        return type_ in self.enums

    def is_integer(self, type_):
        return type_ in INTEGERS
