# A mapped file that is cut while it is read raises SIGBUS: the message names the file, and the exit code is 3. The command
# opens the ids after the model, so once the pipe has a reader the model is mapped.
if wte version --json | grep -q '"sanitizer": "thread'; then
    echo "ThreadSanitizer writes out what stdout holds when the handler ends the program"
    exit 77
fi
wte new --rows 4096 --dim 64 -o t.safetensors > told
mkfifo ids
wte lookup t.safetensors --ids ids > out 2> err &
exec 3> ids
truncate -s 4096 t.safetensors
echo 4095 >&3
exec 3>&-
code=0
wait $! || code=$?
cat out err
echo "exit $code"
