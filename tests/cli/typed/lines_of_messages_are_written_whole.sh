# Each message is one write: a packet of a socket that keeps them apart. Also one that is longer than any buffer.
python3 - <<'P'
import socket, subprocess

def packets(*words):
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    there.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    with here, there:
        done = subprocess.run(["wte", *words], stdout=subprocess.DEVNULL, stderr=there, check=False)
        there.close()
        got = []
        while data := here.recv(1 << 20):
            got.append(data)
    return done.returncode, got

for words in (("lookup", "no-such-file", "1"), ("lookup", "demo", "77"), ("lookup", "demo", "1", "--nothing"),
              ("lookup", "demo", "77", "78", "79"), ("lookup", "demo", "1\n2"), ("nothing",), ("near", "demo", "9")):
    code, got = packets(*words)
    print(code, len(got), all(p.endswith(b"\n") and p.count(b"\n") == 1 for p in got))
code, got = packets("lookup", "demo", "x" * 100000)
text = b"".join(got)
print(code, len(text) > 100000, text.endswith(b"find a token\n"), text.count(b"\n"))
P
