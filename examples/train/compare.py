#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The same training elsewhere: the same first weights, batches and rates, and the losses side by side.

    train --steps 200 --export DIR
    compare.py DIR [--with torch|autograd] [--steps N] [--within 1e-3] [--save FILE]

torch: PyTorch, float32. autograd: NumPy in double precision with the package autograd, which shares no code with either.
Prints the losses of every tenth step; exits with 1 when one differs by more than --within. --save keeps the twin's losses,
one a line.
"""
import argparse
import math
import pathlib
import sys

import numpy

NAMES = "words places gain W Wq Wk Wv Wo W1 W2 gain1 gain2".split()
BETA1, BETA2, EPSILON, DECAY = 0.9, 0.99, 1e-8, 0.1


class Torch:
    def __init__(self, weights):
        import torch
        self.torch = torch
        self.w = {name: torch.tensor(x, requires_grad=True) for name, x in weights.items()}
        self.adam = torch.optim.AdamW(self.w.values(), betas=(BETA1, BETA2), eps=EPSILON, weight_decay=DECAY)

    def loss(self, tokens, following):
        torch, w = self.torch, self.w
        F = torch.nn.functional
        norm = lambda x, gain: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gain
        x = w["words"][tokens] + w["places"][:tokens.shape[1]]
        for b in range(w["Wq"].shape[0]):
            normal = norm(x, w["gain1"][b])
            q, k, v = (torch.einsum("bse,ehd->bhsd", normal, w[name][b]) for name in ("Wq", "Wk", "Wv"))
            context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + torch.einsum("bhsd,hde->bse", context, w["Wo"][b])
            x = x + F.gelu(norm(x, w["gain2"][b]) @ w["W1"][b]) @ w["W2"][b]
        logits = norm(x, w["gain"]) @ w["W"]
        return F.cross_entropy(logits.flatten(0, 1), following.flatten())

    def step(self, tokens, following, rate):
        """The loss before the step."""
        loss = self.loss(*(self.torch.from_numpy(x).long() for x in (tokens, following)))
        self.adam.zero_grad()
        loss.backward()
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()
        return loss.item()


class Autograd:
    def __init__(self, weights):
        import autograd
        import autograd.numpy
        import autograd.scipy.special
        self.np, self.erf = autograd.numpy, autograd.scipy.special.erf
        self.w = {name: x.astype(numpy.float64) for name, x in weights.items()}
        self.mean, self.square = ({name: numpy.zeros_like(x) for name, x in self.w.items()} for _ in range(2))
        self.steps, self.derived = 0, autograd.value_and_grad(self.loss)

    def loss(self, w, tokens, following):
        np = self.np
        norm = lambda x, gain: x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * gain
        gelu = lambda x: x * (1 + self.erf(x / math.sqrt(2))) / 2
        length = tokens.shape[1]
        hidden = np.triu(np.full((length, length), -1e30), 1)
        x = w["words"][tokens] + w["places"][:length]
        for b in range(w["Wq"].shape[0]):
            normal = norm(x, w["gain1"][b])
            q, k, v = (np.einsum("bse,ehd->bhsd", normal, w[name][b]) for name in ("Wq", "Wk", "Wv"))
            scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1]) + hidden
            weights = np.exp(scores - np.max(scores, -1, keepdims=True))
            weights = weights / np.sum(weights, -1, keepdims=True)
            context = np.einsum("bhqk,bhkd->bhqd", weights, v)
            x = x + np.einsum("bhsd,hde->bse", context, w["Wo"][b])
            x = x + np.dot(gelu(np.dot(norm(x, w["gain2"][b]), w["W1"][b])), w["W2"][b])
        logits = np.dot(norm(x, w["gain"]), w["W"])
        own = np.sum(logits * numpy.eye(logits.shape[-1])[following], -1)
        most = np.max(logits, -1)
        return np.mean(most + np.log(np.sum(np.exp(logits - most[..., None]), -1)) - own)

    def step(self, tokens, following, rate):
        """The loss before the step."""
        loss, gradient = self.derived(self.w, tokens, following)
        self.steps += 1
        for name, g in gradient.items():
            self.mean[name] = BETA1 * self.mean[name] + (1 - BETA1) * g
            self.square[name] = BETA2 * self.square[name] + (1 - BETA2) * g * g
            mean = self.mean[name] / (1 - BETA1**self.steps)
            square = self.square[name] / (1 - BETA2**self.steps)
            self.w[name] = (1 - rate * DECAY) * self.w[name] - rate * mean / (numpy.sqrt(square) + EPSILON)
        return float(loss)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--with", dest="twin", choices=["torch", "autograd"], default="torch")
    arguments.add_argument("--steps", type=int, default=1 << 30)
    arguments.add_argument("--within", type=float, default=1e-3)
    arguments.add_argument("--save", type=pathlib.Path)
    a = arguments.parse_args()
    load = lambda name: numpy.load(a.folder / f"{name}.npy")
    twin = {"torch": Torch, "autograd": Autograd}[a.twin]({name: load(name) for name in NAMES})
    tokens, following, rates, expected = (load(name) for name in ("tokens", "next", "rates", "losses"))
    losses = []
    for step in range(min(a.steps, len(rates))):
        losses.append(twin.step(tokens[step], following[step], rates[step]))
        if step % 10 == 0:
            print(f"step {step:4}  {a.twin} {losses[-1]:.6f}  qkv {expected[step]:.6f}", flush=True)
    largest = max(abs(loss - float(other)) for loss, other in zip(losses, expected))
    print(f"{len(losses)} losses, the largest difference {largest:.1e}, at most {a.within:g} wanted")
    if a.save:
        a.save.write_text("".join(f"{loss:.7f}\n" for loss in losses))
    sys.exit(largest > a.within)


main()
