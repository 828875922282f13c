#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes expected/tuning.txt: the same pairs tune the same layer with PyTorch, in float32.

    minilm_tune MODEL TOKENS && tune_torch.py MODEL TOKENS > expected/tuning.txt

The first line has the losses before each step and at the end; then comes a line for each weight of the layer: the norm
of its first gradient, and the gradient along the direction cos(0), cos(1), ..
"""
import pathlib
import sys

import numpy as np
import torch
from torch.nn import functional as f

from compare import read_safetensors
from peers import EPSILON, FEATURES, HEADS, LAYERS

STEPS, RATE = 20, 5e-5
NAMES = {"Wq": "attention.self.query.weight", "bq": "attention.self.query.bias", "Wk": "attention.self.key.weight",
         "bk": "attention.self.key.bias", "Wv": "attention.self.value.weight", "bv": "attention.self.value.bias",
         "Wo": "attention.output.dense.weight", "bo": "attention.output.dense.bias",
         "gamma1": "attention.output.LayerNorm.weight", "beta1": "attention.output.LayerNorm.bias",
         "W1": "intermediate.dense.weight", "b1": "intermediate.dense.bias", "W2": "output.dense.weight",
         "b2": "output.dense.bias", "gamma2": "output.LayerNorm.weight", "beta2": "output.LayerNorm.bias"}


def layer(x, kept, w):
    heads = lambda y: y.unflatten(-1, (HEADS, -1)).transpose(1, 2)
    q, k, v = (heads(f.linear(x, w["W" + part], w["b" + part])) for part in "qkv")
    context = f.scaled_dot_product_attention(q, k, v, kept[:, None, None, :]).transpose(1, 2).flatten(2)
    x = f.layer_norm(x + f.linear(context, w["Wo"], w["bo"]), (FEATURES,), w["gamma1"], w["beta1"], EPSILON)
    fed = f.linear(f.gelu(f.linear(x, w["W1"], w["b1"])), w["W2"], w["b2"])
    return f.layer_norm(x + fed, (FEATURES,), w["gamma2"], w["beta2"], EPSILON)


def main():
    model, tokens = (pathlib.Path(a) for a in sys.argv[1:])
    weights = {n: torch.from_numpy(x) for n, x in read_safetensors(model / "model.safetensors").items()}
    of_layer = lambda k: {short: weights[f"encoder.layer.{k}.{name}"] for short, name in NAMES.items()}
    ids = torch.from_numpy(np.load(tokens / "ids.npy")).long()
    targets = torch.from_numpy(np.load(tokens / "targets.npy"))
    kept = ids != 0
    with torch.no_grad():
        part = lambda name: weights[f"embeddings.{name}_embeddings.weight"]
        x = part("word")[ids] + part("position")[:ids.shape[1]] + part("token_type")[0]
        x = f.layer_norm(x, (FEATURES,), weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"], EPSILON)
        for k in range(LAYERS - 1):
            x = layer(x, kept, of_layer(k))
    last = {n: w.clone().requires_grad_() for n, w in of_layer(LAYERS - 1).items()}
    adam = torch.optim.Adam(last.values(), lr=RATE)

    def loss():
        y, count = layer(x, kept, last), kept[..., None].float()
        sentences = f.normalize((y * count).sum(1) / count.sum(1), dim=1).unflatten(0, (-1, 2))
        return ((sentences[:, 0] * sentences[:, 1]).sum(-1) - targets).pow(2).mean()

    losses, first = [], {}
    for step in range(STEPS + 1):
        now = loss()
        losses.append(now.item())
        adam.zero_grad()
        now.backward()
        if not first:
            first = {n: w.grad.double().flatten().clone() for n, w in last.items()}
        if step < STEPS:
            adam.step()
    print("loss", *(f"{x:.7f}" for x in losses))
    for name, g in first.items():
        along = g @ torch.cos(torch.arange(len(g), dtype=torch.float64))
        print(name, f"{g.norm():.7g} {along:.7g}")


main()
