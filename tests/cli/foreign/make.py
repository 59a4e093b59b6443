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


if __name__ == "__main__":
    globals()[sys.argv[1]]()
