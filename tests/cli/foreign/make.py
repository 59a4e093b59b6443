"""Small models and files of other programs for the cases of this folder: python3 make.py GROUP writes them here.

Element [r, c] of a table is r + (c + 1) / 16: exact in f16, bf16 and text, and each row can be told by eye.
"""
import argparse
import gzip
import io
import json
import pathlib
import pickle
import sqlite3
import struct
import sys
import types
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "pains"), str(HERE.parent / "parts")]
from files import EMBED, HEAD, f32, flat, gguf, gguf_text, llama, model, safetensors, tensor, tokenizer, trained, words
from torch_files import Tensor, named, torch


def table(rows, dim=5, first=0):
    return [[first + r + (c + 1) / 16 for c in range(dim)] for r in range(rows)]


def put(path, content):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, (dict, list)):
        content = json.dumps(content, ensure_ascii=False)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def lines(path, *content):
    put(path, "".join(line + "\n" for line in content))


# Parts of one table ----------------------------------------------------------------------------

def trtllm(folder, pieces, vocab, tp):
    config = {"architecture": "GPTForCausalLM", "vocab_size": vocab, "hidden_size": 5, "mapping": {"tp_size": tp, "pp_size": 1}}
    put(f"{folder}/config.json", config)
    for rank, rows in pieces.items():
        safetensors(f"{folder}/rank{rank}.safetensors", {"transformer.vocab_embedding.weight": tensor(rows)})


def neox(folder, pieces):
    for rank, rows in pieces.items():
        torch(f"{folder}/layer_00-model_{rank:02}-model_states.pt", {"word_embeddings.weight": Tensor(rows)})


def megatron(folder, pieces, size):
    args = argparse.Namespace(tensor_model_parallel_size=size, hidden_size=5)
    for rank, rows in pieces.items():
        state = {"language_model": {"embedding": {"word_embeddings": {"weight": Tensor(rows)}}}}
        torch(f"{folder}/mp_rank_{rank:02}/model_optim_rng.pt", {"args": args, "checkpoint_version": 3.0, "model": state})


def vllm(folder, pieces, vocab):
    put(f"{folder}/config.json", llama(vocab, 5))
    for rank, rows in pieces.items():
        safetensors(f"{folder}/model-rank-{rank}-part-0.safetensors", {EMBED: tensor(rows)})


def deepspeed(folder, pieces, size):
    for rank, rows in pieces.items():
        torch(f"{folder}/mp_rank_{rank:02}_model_states.pt", {"module": {"word_embeddings.weight": Tensor(rows)}, "mp_world_size": size})


def parts():
    two = {k: table(4, first=4 * k) for k in range(2)}
    three = {k: table(3, first=3 * k) for k in range(3)}
    padded = three | {2: [*table(2, first=6), [0.0] * 5]}
    uneven = three | {2: table(2, first=6)}
    hole = {0: three[0], 2: three[2]}
    for name, pieces, vocab in (("two", two, 8), ("three", three, 9), ("padded", padded, 8), ("uneven", uneven, 8), ("hole", hole, 9)):
        n = max(pieces) + 1
        trtllm(f"trtllm_{name}", pieces, vocab, n)
        neox(f"neox_{name}", pieces)
        megatron(f"megatron_{name}", pieces, n)
        vllm(f"vllm_{name}", pieces, vocab)
        deepspeed(f"deepspeed_{name}", pieces, n)


# Vocabularies whose ids are not places in their file -------------------------------------------

def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def spm(path, pieces):
    out = b""
    for i, (text, kind) in enumerate(pieces):
        raw = text.encode()
        inside = b"\x0a" + varint(len(raw)) + raw + b"\x15" + struct.pack("<f", -i) + b"\x18" + varint(kind)
        out += b"\x0a" + varint(len(inside)) + inside
    put(path, out)


PIECES = [("\u2581the", 1), ("\u2581cat", 1), ("s", 1), ("\u2581dog", 1)]
FAIRSEQ = [("<unk>", 2), ("<s>", 3), ("</s>", 3)]
IDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}


def named_by(folder, rows, config, file, pieces, tokenizer_config=None):
    """A model of rows x 1 whose row r is [r], beside a SentencePiece model."""
    ordinary = {"vocab_size": rows, "hidden_size": 1}
    model(folder, {"model.shared.weight": tensor([[r] for r in range(rows)])}, ordinary | config)
    spm(f"{folder}/{file}", pieces)
    if tokenizer_config:
        put(f"{folder}/tokenizer_config.json", tokenizer_config)


def vocabularies():
    pegasus = {"model_type": "pegasus", "architectures": ["PegasusForConditionalGeneration"]}
    own = [("<pad>", 3), ("</s>", 3), ("<unk>", 2), *PIECES]
    named_by("pegasus", 110, pegasus, "spiece.model", own, {"tokenizer_class": "PegasusTokenizer", "offset": 103})
    named_by("pegasus_unsaid", 110, pegasus | {"model_type": "pegasus_x"}, "spiece.model", own)
    named_by("pegasus_offset_0", 7, pegasus | {"model_type": "bigbird_pegasus"}, "spiece.model", own,
             {"tokenizer_class": "PegasusTokenizer", "offset": 0})
    xlmr = {"model_type": "xlm-roberta", "architectures": ["XLMRobertaForMaskedLM"]} | IDS
    tokens = FAIRSEQ + PIECES
    named_by("xlmr", 9, xlmr, "sentencepiece.bpe.model", tokens, {"tokenizer_class": "XLMRobertaTokenizer"})
    named_by("xlmr_tokenizer", 9, xlmr, "tokenizer.model", tokens, {"tokenizer_class": "XLMRobertaTokenizer"})
    named_by("xlmr_unsaid", 9, xlmr, "sentencepiece.bpe.model", tokens)
    named_by("xglm", 15, {"model_type": "xglm"} | IDS, "sentencepiece.bpe.model", tokens, {"tokenizer_class": "XGLMTokenizer"})
    named_by("camembert", 12, {"model_type": "camembert"} | IDS, "sentencepiece.bpe.model", FAIRSEQ + PIECES, {"tokenizer_class": "CamembertTokenizer"})
    named_by("ours", 9, {"model_type": "ours"}, "sentencepiece.bpe.model", tokens, {"tokenizer_class": "OursTokenizer"})
    counted = "có 900\nlà 800\nkhông 700\nngười 50\nnhà@@ 7\n"
    roberta = {"model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "vocab_size": 10, "hidden_size": 1}
    for name, config, file in (("phobert", IDS | {"tokenizer_class": "PhobertTokenizer"}, "vocab.txt"), ("fairseq", {}, "dict.txt"),
                               ("counts_by_size", IDS, "vocab.txt"), ("counts_unsaid", {}, "vocab.txt")):
        rows = 9 if name == "fairseq" else 10
        model(name, {"roberta.embeddings.word_embeddings.weight": tensor([[r] for r in range(rows)])}, roberta | config | {"vocab_size": rows})
        put(f"{name}/{file}", counted)
        put(f"{name}/bpe.codes", "n h 10\n")
    # ids of placeholders, whose texts are in tokenizer_config.json; two are untrained in the second, and in its head
    pieces = FAIRSEQ + [("\u2581the", 1), ("s", 1)] + [(f"[UNUSED_TOKEN_{i}]", 4) for i in (143, 144, 145, 146)]
    added = {"5": "<|action_end|>", "6": "<|action_start|>", "7": "<|im_end|>", "8": "<|im_start|>"}
    for name, zero in (("internlm", ()), ("internlm_zero", (7, 8))):
        rows = [[[0.0] * 4 if r in zero else row for r, row in enumerate(trained(9, 4, seed))] for seed in (1, 2)]
        config = {"model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"], "vocab_size": 9, "hidden_size": 4, "tie_word_embeddings": False}
        model(name, {"model.tok_embeddings.weight": tensor(rows[0]), "output.weight": tensor(rows[1])}, config | {"eos_token_id": [2, 7]})
        spm(f"{name}/tokenizer.model", pieces)
        put(f"{name}/tokenizer_config.json", {"tokenizer_class": "InternLM2Tokenizer",
            "added_tokens_decoder": {k: {"content": v, "special": True} for k, v in added.items()}})
        put(f"{name}/chat.jinja", "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}")


# Heads -----------------------------------------------------------------------------------------

HIDDEN = 4
THREE = [[3.0 - r, 0.5, 0, 0] for r in range(3)]
BIAS = ("F32", [3], f32([[0, 0, 5]]))


def text(key, value):
    return key, 8, gguf_text(value)


def texts(key, values):
    return key, 9, struct.pack("<IQ", 8, len(values)) + b"".join(map(gguf_text, values))


def number(key, value):
    return key, 4, struct.pack("<I", value)


def biased(name, family, tensors, **config):
    model(name, {k: BIAS if v is None else tensor(v) for k, v in tensors.items()},
          {"model_type": family, "architectures": [f"{family.title()}ForCausalLM"], "vocab_size": 3, "hidden_size": HIDDEN} | config)


def heads():
    untied = {"tie_word_embeddings": False}
    biased("modernbert", "modernbert", {"model.embeddings.tok_embeddings.weight": THREE, "decoder.bias": None, "head.dense.weight": [[0.0] * 4] * 4},
           architectures=["ModernBertForMaskedLM"], tie_word_embeddings=True)
    biased("gpt2", "gpt2", {"wte.weight": THREE, "lm_head.bias": None}, tie_word_embeddings=True)
    biased("phi", "phi", {EMBED: THREE, HEAD: THREE, "lm_head.bias": None}, **untied)
    biased("phi_msft", "phi-msft", {"transformer.embd.wte.weight": THREE, "lm_head.linear.weight": THREE, "lm_head.linear.bias": None}, **untied)
    biased("xlnet", "xlnet", {"transformer.word_embedding.weight": THREE, "lm_loss.weight": THREE, "lm_loss.bias": None})
    biased("xlm", "xlm", {"transformer.embeddings.weight": THREE, "pred_layer.proj.weight": THREE, "pred_layer.proj.bias": None})
    biased("gptj", "gptj", {"transformer.wte.weight": THREE, "lm_head.weight": THREE, "lm_head.bias": None}, **untied)
    biased("codegen", "codegen", {"transformer.wte.weight": THREE, "lm_head.weight": THREE, "lm_head.bias": None}, **untied)
    biased("roberta", "roberta", {"roberta.embeddings.word_embeddings.weight": THREE, "lm_head.bias": None})
    biased("distilbert", "distilbert", {"distilbert.embeddings.word_embeddings.weight": THREE, "vocab_projector.bias": None})
    biased("marian", "marian", {"model.shared.weight": THREE, "final_logits_bias": [[0, 0, 5]]}, architectures=["MarianMTModel"])
    for arch, bias in (("phi2", "output.bias"), ("phimoe", "output.bias"), ("qwen2", "output.bias")):
        tensors = [(n, [4, 3], 0, f32(THREE)) for n in ("token_embd.weight", "output.weight")] + [(bias, [3], 0, f32([[0, 0, 5]]))]
        gguf(f"{arch}.gguf", tensors, [text("general.architecture", arch), number(f"{arch}.embedding_length", 4),
                                       text("tokenizer.ggml.model", "gpt2"), texts("tokenizer.ggml.tokens", ["a", "b", "c"])])
    # a copy of a tied head, quantised by MLX, one scale of which may differ
    mlx = llama(8, 64) | {"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "quantization": {"group_size": 32, "bits": 4}}
    codes = [[(r * 7 + c * 3) % 16 for c in range(64)] for r in range(8)]
    packed = b"".join(struct.pack("<I", sum(row[c + k] << 4 * k for k in range(8))) for row in codes for c in range(0, 64, 8))
    scales, offsets = [0.5 + 0.25 * (i % 3) for i in range(16)], [-1.0 - i % 2 for i in range(16)]
    for name in ("mlx_equal", "mlx_other"):
        tensors = {}
        for part in ("model.embed_tokens", "lm_head"):
            own = [x + 0.25 * (i == 5 and part == "lm_head" and name == "mlx_other") for i, x in enumerate(scales)]
            tensors |= {f"{part}.weight": ("U32", [8, 8], packed), f"{part}.scales": ("F16", [8, 2], struct.pack("<16e", *own)),
                        f"{part}.biases": ("F16", [8, 2], struct.pack("<16e", *offsets))}
        model(name, tensors, mlx)
    # draft heads: which tokens the rows of a head are
    ints = lambda values: ("I64", [len(values)], struct.pack(f"<{len(values)}q", *values))
    keep, config = [0, 3, 4, 8, 11], llama(12, 4, False) | {"draft_vocab_size": 5, "architectures": ["LlamaForCausalLMEagle3"]}
    tensors = {"embed_tokens.weight": tensor(table(12, 4)), HEAD: tensor([[r + 1.0, 0, 0, 0] for r in range(5)]),
               "t2d": ("BOOL", [12], bytes(int(i in keep) for i in range(12)))}
    model("eagle", tensors | {"d2t": ints([t - i for i, t in enumerate(keep)])}, config)
    model("eagle_ids", tensors | {"d2t": ints(keep)}, config)
    del tensors["t2d"]
    model("eagle_repeats", tensors | {"d2t": ints([0, 0, 0, -1, 0])}, config)
    model("cpmant", {"cpmant.input_embedding.weight": tensor(table(14, 4)), HEAD: tensor(table(10, 4))},
          {"model_type": "cpmant", "architectures": ["CpmAntForCausalLM"], "vocab_size": 10, "hidden_size": 4})
    # projections of hidden vectors are no heads of tokens
    for name, rows, family in (("siglip", 20, "siglip"), ("text_only", 20, "siglip_text_model"), ("square", 8, "siglip_text_model")):
        inner = {"model_type": "siglip_text_model", "vocab_size": rows, "hidden_size": 8}
        config = inner | {"architectures": ["SiglipTextModel"]}
        if family == "siglip":
            config = {"model_type": family, "architectures": ["SiglipModel"], "text_config": inner}
        model(name, {"text_model.embeddings.token_embedding.weight": tensor(trained(rows, 8)), "text_model.head.weight": tensor(trained(8, 8, 2)),
                     "text_model.embeddings.position_embedding.weight": tensor(table(6, 8)), "text_model.head.bias": ("F32", [8], f32([[0] * 8]))}, config)
    opt = {"model_type": "opt", "architectures": ["OPTForCausalLM"], "vocab_size": 3, "hidden_size": 4, "word_embed_proj_dim": 2}
    body = "model.decoder."
    model("opt", {body + "embed_tokens.weight": tensor([[1, 0], [0, 1], [1, 1]]), body + "project_in.weight": tensor([[1, 0], [0, 1], [2, 0], [0, 2]]),
                  body + "project_out.weight": tensor([[1, 2, 3, 4], [0, 0, 1, -1]]), body + "embed_positions.weight": tensor(table(8, 4))}, opt)
    model("unknown", {"net.symbol_table.weight": tensor(table(4, 2)), HEAD: tensor([[-x for x in row] for row in table(4, 2)])})
    # a good table and a bad head
    nan, good = float("nan"), trained(12, 4, 2)
    cases = {"zeros": [[0.0] * 4] * 12, "nan": [[nan] * 4] * 12, "nan_row": [*good[:5], [nan] * 4, *good[6:]], "same": [good[0]] * 12}
    for name, head in cases.items():
        model(f"head_{name}", {EMBED: tensor(trained(12, 4)), HEAD: tensor(head)}, llama(12, 4, False), words(12))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
