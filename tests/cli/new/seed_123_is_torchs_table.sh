# The worked example: torch.manual_seed(123); torch.nn.Embedding(6, 3). The bits are those of PyTorch 1.13.
wte new --rows 6 --dim 3 --seed 123 -o t.npy
tail -c 72 t.npy | od -An -v -tx4 -w12
