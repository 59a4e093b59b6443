# Two quantised tables are equal in bytes when all their parts are; a scheme that is not read hides only itself.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/.." python3 -B - << 'END'
import quant_models


def write(name, model, head, config=None):
    model.tensors += head
    model.config = config or model.config
    model.write(name)


def head_of(model):
    return [("lm_head" + name[len(model.stem):], *rest) for name, *rest in model.tensors]


model = quant_models.make("mlx-4")
write("copies", model, head_of(model))
model, other = quant_models.make("mlx-4"), quant_models.make("mlx-4", seed=2)
write("apart", model, head_of(other))
model, head = quant_models.make("ct-4"), quant_models.make("gptq-4")
plain = [("model.embed_tokens.weight", "F32", [32, 128], bytes(4 * 32 * 128))]
head.tensors += plain
head.config["quantization_config"]["checkpoint_format"] = "gptq_p"
head.write("unread")
END
run wte tied copies
run wte tied apart
run wte tied unread
run wte inspect unread
run wte check unread --only head-unread
run wte lookup unread 3 --raw -o row.bin
