# What is not read is named by its content, with exit 4: as a file, and as the only weights of a folder.
. "$DATA/../cli/lib.sh"
exec 2>&1
printf '\010\007\022\007pytorch\032\0031.9:\004\n\000\n\000' > model.onnx
printf '\211HDF\r\n\032\n\000\000\000\000\000\010\010\000' > model.h5
printf '\202\246params\201\243wte' > flax_model.msgpack
printf '\034\000\000\000TFL3\024\000 \000' > model.tflite
{ printf '\010\001\022\102\n\100'; printf '%064d' 0; } > saved_model.pb
printf '\000\000\006\010\001\032\002\010\001\000\015' > model.ckpt.index
printf '\000\000\200\077\000\000\000\100\000\000\200\077' > model.ckpt.data-00000-of-00001
printf '\012\020\012\001x\022\013Placeholder' > frozen.pb
python3 - << 'END'
import zipfile
with zipfile.ZipFile("model.keras", "w") as z:
    for name in ("metadata.json", "config.json", "model.weights.h5"):
        z.writestr(zipfile.ZipInfo(name), "{}")
END
for file in model.onnx model.h5 model.keras flax_model.msgpack model.tflite saved_model.pb model.ckpt.index frozen.pb; do
    run wte lookup "$file" 0
    mkdir "folder_$file"
    cp "$file" "folder_$file/"
    echo '{"model_type": "bert", "vocab_size": 3}' > "folder_$file/config.json"
    run wte inspect "folder_$file"
done
run wte inspect model.ckpt.data-00000-of-00001
head -c 4096 /dev/zero > zeros.data-00000-of-00002
run wte inspect zeros.data-00000-of-00002
echo 'Entry not found' > reply.pb
run wte inspect reply.pb
mkdir tf
cp model.ckpt.* tf/
run wte inspect tf
# weights that are read go first
mkdir both
cp model.onnx both/
wte new --rows 2 --dim 2 -q -o both/model.safetensors > told
run wte inspect both
