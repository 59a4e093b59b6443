"""What every targets_*.py script begins with: wte, the native helper, and the peers that can be had."""
import importlib
import os
import pathlib
import sys

import own
import pairs

# name: module, class; a peer is made when it is first asked for.
PEERS = {
    "FBGEMM": ("fbgemm", "Fbgemm"),
    "ggml": ("ggml", "Peer"),
    "ggml native": ("ggml", "Native"),
    "oneDNN": ("products", "OneDnn"),
    "OpenBLAS": ("products", "OpenBlas"),
    "onnxruntime": ("products", "OnnxRuntime"),
    "NumKong": ("products", "NumKong"),
    "PyTorch": ("pytorch", "Torch"),
    "PyTorch 2": ("pytorch2", "Torch2"),
}


class Session:
    """usage: targets_<piece>.py libwte.so [PART OF AN OPERATION'S NAME...]"""

    def __init__(self, arguments):
        if len(arguments) < 2:
            sys.exit(self.__doc__)
        library = pathlib.Path(arguments[1]).resolve()
        self.wte = own.Wte(str(library))
        self.native = own.Native(library.parent / "bench/libbench_peers.so")
        self.asked, self.made = arguments[2:], {}

    def wants(self, operation):
        return not self.asked or any(part in operation for part in self.asked)

    def peer(self, name):
        """The peer, or None; then a line says that it is missing, and why."""
        if name not in self.made:
            module, kind = PEERS[name]
            try:
                made = getattr(importlib.import_module(module), kind)
                self.made[name] = made(self.native) if name == "FBGEMM" else made()
            except (ImportError, OSError, AttributeError, ValueError) as error:
                pairs.missing(name, error)
                self.made[name] = None
        return self.made[name]

    def torch(self, usual):
        """The name of version 1, Debian's, or 2: one process holds one of them. WTE_BENCH_PYTORCH decides, or what is usual."""
        asked = os.environ.get("WTE_BENCH_PYTORCH", usual)
        return "PyTorch 2" if asked == "2" and self.peer("PyTorch 2") else "PyTorch"

    def add(self, calls, name, peer, method, *arguments, **more):
        """A contender more, where the peer is there and can do it."""
        if self.peer(peer):
            try:
                made = getattr(self.made[peer], method)(*arguments, **more)
            except ValueError as error:
                pairs.missing(name, error)
                return
            if made:
                calls[name] = made

    def own(self, calls, name, method, *arguments, **more):
        """One of wte's own; named as missing where this build has no such function yet."""
        try:
            made = getattr(self.wte, method)(*arguments, **more)
            made(0)
            calls[name] = made
        except (AttributeError, RuntimeError) as error:
            pairs.missing(name, error)


def end(calls):
    """Frees what contenders hold outside Python."""
    for call in calls.values():
        getattr(call, "end", lambda: None)()
