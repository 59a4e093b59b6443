# On a terminal (a pseudo-terminal here) binary is refused, and colours are used unless NO_COLOR is set.
cat > on_terminal.py << 'END'
import os, pty, subprocess, sys

main, side = pty.openpty()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=side, stderr=subprocess.PIPE,
                      env=dict(os.environ, TERM="xterm"))
os.close(side)
text = b""
try:
    while piece := os.read(main, 65536):
        text += piece
except OSError:  # the other side is closed and all has been read
    pass
print(text.decode().replace("\r", "").replace("\033", "ESC") or "nothing")
print(done.stderr.decode() + f"exit {done.returncode}")
END
python3 on_terminal.py wte lookup demo 3 --raw
python3 on_terminal.py wte lookup demo 3 --npy -o -
python3 on_terminal.py wte new --rows 2 --dim 2 -o -
python3 on_terminal.py wte lookup demo 3 --raw -o row
od -An -v -tx4 row
python3 on_terminal.py wte lookup demo 3
NO_COLOR=1 python3 on_terminal.py wte lookup demo 3
