"""Seeds of fuzz_adapter: configs as PEFT writes them, and broken ones."""
import json


def seeds_adapter():
    yield "lora", json.dumps({"peft_type": "LORA", "base_model_name_or_path": "org/base", "r": 8, "lora_alpha": 16,
                              "target_modules": ["q_proj", "embed_tokens"], "modules_to_save": ["lm_head"],
                              "trainable_token_indices": None, "layers_to_transform": [1, [2, {"a": 3}]]}).encode()
    yield "tokens", b'{"peft_type": "TRAINABLE_TOKENS", "token_indices": [0, 1, 18446744073709551615]}'
    yield "by_layer", b'{"trainable_token_indices": {"lm_head": [1], "model.embed_tokens": [7, 9], "shared": [2]}}'
    yield "null", b'{"r": null, "base_model_name_or_path": null, "peft_type": null}'
    yield "escapes", b'{"p\\u0065ft_type": "\\ud83d\\ude00\\u0000x", "trainable_token_indices": {"\\u0000": {}}}'
    yield "twice", b'{"token_indices": [1, 2], "trainable_token_indices": {"wte": []}, "r": 1, "r": 2}'
    yield "wrong_kind", b'{"token_indices": "all"}'
    yield "not_object", b"[1, 2]"
    yield "cut", b'{"token_indices": {"embed_tokens": [1'
    yield "empty", b""
