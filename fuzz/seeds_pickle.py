"""Seeds of the pickle target: what checkpoints hold, of several protocols, and what they must not hold."""
import pickle
import struct


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def storage(key="0", count=24, kind="FloatStorage"):
    return b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu") + b"J" + struct.pack("<i", count) + b"tQ"


def tensor(shape=(2, 3), stride=(3, 1), offset=0, **of):
    numbers = lambda items: b"(" + b"".join(b"J" + struct.pack("<i", i) for i in items) + b"t"  # noqa: E731
    head = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage(**of) + b"J" + struct.pack("<i", offset)
    return head + numbers(shape) + numbers(stride) + b"\x89ccollections\nOrderedDict\n)RtR"


def state(*tensors):
    items = b"".join(text(f"w{i}") + t for i, t in enumerate(tensors))
    return b"\x80\x02ccollections\nOrderedDict\n)Rq\0(" + items + b"u}" + text("_metadata") + b"}sb."


def seeds_pickle():
    values = {"a": [1, 2.5, None, True], "b": (1, (2, 3), {4: "x"}), 5: b"bytes", "big": 1 << 70, "set": {1, 2}}
    for protocol in (2, 3, 4, 5):
        yield f"values{protocol}", pickle.dumps(values, protocol)
    yield "state", state(tensor(), tensor((3, 2), (1, 3)), tensor(offset=5))
    yield "system", b"\x80\x02cos\nsystem\n" + text("id") + b"\x85R."
    yield "module", b"\x80\x02c__main__\nNet\n)\x81}b."
    yield "deep", b"\x80\x02" + b"(" * 300 + b"."
    yield "tuples", b"\x80\x02)" + b"\x85" * 300 + b"."
    yield "memo", b"\x80\x02Nr\xff\xff\xff\x7f."
    yield "shared", b"\x80\x02}" + b"".join(b"q%c0}(K\x01h%cK\x02h%cu" % (i, i, i) for i in range(30)) + b"."
    yield "cut", state(tensor())[:-20]
