"""Seeds of fuzz_config: configs as models have them, nested ones, and broken ones."""
import json


def seeds_config():
    yield "gpt2", json.dumps({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
                              "n_embd": 768, "vocab_size": 50257}).encode()
    yield "gemma3", json.dumps({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
                                "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
                                                "tie_word_embeddings": True},
                                "vision_config": {"hidden_size": 1152, "layers": [1, [2, {"a": 3}]]}}).encode()
    yield "omni", json.dumps({"model_type": "qwen2_5_omni", "tie_word_embeddings": True,
                              "thinker_config": {"text_config": {"vocab_size": 9, "tie_word_embeddings": False}},
                              "talker_config": {"vocab_size": 4}}).encode()
    yield "granite", json.dumps({"model_type": "granite", "embedding_multiplier": 12, "pad_token_id": -1}).encode()
    yield "bart", json.dumps({"model_type": "bart", "d_model": 16, "scale_embedding": True,
                              "decoder": {"model_type": "bart", "vocab_size": 3}}).encode()
    yield "escapes", b'{"m\\u006fdel_type": "\\ud83d\\ude00\\u0000x", "architectures": ["\\n"]}'
    yield "python", b'{"temperature": NaN, "x": -Infinity, "scale_emb": 1e-3, "model_type": "minicpm"}'
    yield "null", b'{"vocab_size": null, "text_config": null, "architectures": null}'
    yield "twice", b'{"vocab_size": 1, "vocab_size": 2, "text_config": {}, "text_config": {"dim": 3}}'
    yield "wrong_kind", b'{"tie_word_embeddings": "false"}'
    yield "not_object", b"[1, 2]"
    yield "inner_list", b'{"architectures": [["a"], {"b": []}], "vocab_size": 3}'
    yield "cut", b'{"text_config": {"vocab_size": 1'
    yield "empty", b""
