# Packed codes are never shown as the numbers of a table: exit 4, and the scheme by its name.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/.." python3 -B - << 'END'
import quant_models


def change(name, out, **said):
    model = quant_models.make(name)
    for key in model.config:
        if key.startswith("quantization"):
            model.config[key] |= said
    model.write(out)
    return model


change("gptq-3", "planar", checkpoint_format="gptq_p")
change("awq-gemm", "fast", version="gemv_fast")
change("ct-4", "other", quant_method="modelopt")
model = quant_models.make("gptq-4")
model.config = {}
model.write("unsaid")
model = quant_models.make("mlx-4")
model.tensors = [t for t in model.tensors if t[0].endswith(".weight")]
model.config = {"quantization_config": {"quant_method": "torchao"}}
model.write("alone")
END
for model in planar fast other unsaid alone; do
    run wte lookup "$model" 1
done
run wte near planar 1
run wte trace planar 1
run wte check planar
run wte diff planar planar
