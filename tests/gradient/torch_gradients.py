#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes torch_gradients.txt: arguments, adjoints, and the gradients of PyTorch's autograd in float64, for the formulas
of torch_specs.hpp. Needs torch and numpy; the test reads the file alone.

    torch_gradients.py > torch_gradients.txt
"""
import math

import numpy
import torch
from torch.nn import functional as F

B, H, QH, S, M, D, E, MODEL, HIDDEN, VOCABULARY = 2, 2, 4, 3, 5, 4, 3, 6, 5, 7
random = numpy.random.default_rng(20)
triangle = torch.ones(S, S, dtype=torch.bool).tril()
distance = torch.arange(S)[None, :] - torch.arange(S)[:, None]  # key less query


def attend(scores, V, keep=None):
    """Rows without keys give 0."""
    if keep is None:
        return torch.softmax(scores, -1) @ V
    some = keep.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~keep, -math.inf).masked_fill(~some, 0), -1)
    return torch.where(some, weights, 0.0) @ V


def scores_of(Q, K):
    return Q @ K.transpose(-1, -2) / math.sqrt(D)


def rope(x):
    angle = torch.arange(S, dtype=torch.float64)[:, None] * 100 ** (-torch.arange(2, dtype=torch.float64) / 2)
    a, b = x[..., :2], x[..., 2:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def elu_plus_one(x):
    return F.elu(x) + 1


def unit(x):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-12)


def linear_causal(Q, K, V):
    q, k = elu_plus_one(Q), elu_plus_one(K)
    pairs = (q @ k.transpose(-1, -2)) * triangle
    return pairs @ V / pairs.sum(-1, keepdim=True)


def relative(Q, K, V, table):
    return attend(scores_of(Q, K) + table[:, (distance + 2).clamp(0, 4)], V)


def additive(Hs, Ss, W, U, v):
    return attend(torch.tanh((Hs @ W)[:, :, None] + (Ss @ U)[:, None]) @ v, Ss)


def with_sink(Q, K, V, sink):
    s = scores_of(Q, K)
    s = torch.cat([s, sink[None, :, None, None].expand(B, H, S, 1)], -1)
    return torch.softmax(s, -1)[..., :-1] @ V


def layer(X, Wq, Wk, Wv, Wo):
    q, k, v = (torch.einsum("bsm,mhd->bhsd", X, w) for w in (Wq, Wk, Wv))
    return X + torch.einsum("bhse,hem->bsm", attend(scores_of(q, k), v, triangle), Wo)


def gated(X, gamma, W1, W2, W3):
    n = X * torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + 1e-6) * gamma
    return (F.silu(n @ W1) * (n @ W2)) @ W3


def elman(X, W, U, b, h0):
    state, all_states = h0, []
    for t in range(S):
        state = torch.tanh(X[:, t] @ W + state @ U + b)
        all_states.append(state)
    return torch.stack(all_states, 1), state


def delta(S0, Q, K, V, beta):
    state, results, keys, shares = S0, [], unit(K), torch.sigmoid(beta)
    for t in range(S):
        q, k, v = Q[:, t], keys[:, t], V[:, t]
        written = (v - torch.einsum("bd,bde->be", k, state)) * shares[:, t, None]
        state = state + k[:, :, None] * written[:, None]
        results.append(torch.einsum("bd,bde->be", q, state))
    return torch.stack(results, 1)


def grouped(Q, K, V):
    return attend(scores_of(Q, K.repeat_interleave(2, 1)), V.repeat_interleave(2, 1))


near = {"Q": (B, H, S, D), "K": (B, H, S, D), "V": (B, H, S, E)}
far = {"Q": (B, H, S, D), "K": (B, H, M, D), "V": (B, H, M, E)}
words = {"H": (B, S, D), "S": (B, M, MODEL)}
X = {"X": (B, S, MODEL)}
lengths = ("lengths", [4, 0])
ids = ("ids", [[0, 0, 1], [2, 2, 2]])
tokens, following = ("tokens", [[1, 5, 1], [0, 6, 2]]), ("next", [[5, 1, 3], [6, 2, 2]])


def keep_documents(i):
    return (i[:, None, :, None] == i[:, None, None, :])


# name, floating arguments, whole numbers, results, formula
CASES = [
    ("full", far, [], ["O"], lambda Q, K, V: attend(scores_of(Q, K), V)),
    ("causal_self", near, [], ["O"], lambda Q, K, V: attend(scores_of(Q, K), V, triangle)),
    ("window", near, [], ["O"], lambda Q, K, V: attend(scores_of(Q, K), V, triangle & (distance > -2))),
    ("padded", far, [lengths], ["O"],
     lambda Q, K, V, n: attend(scores_of(Q, K), V, (torch.arange(M) < n[:, None])[:, None, None].expand(B, H, S, M))),
    ("documents", near, [ids], ["O"],
     lambda Q, K, V, i: attend(scores_of(Q, K), V, keep_documents(i).expand(B, H, S, S))),
    ("grouped", far | {"Q": (B, QH, S, D)}, [], ["O"], grouped),
    ("softcapped", far, [], ["O"], lambda Q, K, V: attend(2 * torch.tanh(Q @ K.transpose(-1, -2) / 2), V)),
    ("biased", far | {"bias": (H, S, M)}, [], ["O"], lambda Q, K, V, bias: attend(scores_of(Q, K) + bias, V)),
    ("relative", near | {"table": (H, 5)}, [], ["O"], relative),
    ("sloped", near | {"slope": (H,)}, [], ["O"],
     lambda Q, K, V, slope: attend(scores_of(Q, K) - slope[:, None, None] * distance.abs(), V)),
    ("additive", words | {"W": (D, HIDDEN), "U": (MODEL, HIDDEN), "v": (HIDDEN,)}, [], ["O"], additive),
    ("general", words | {"W": (D, MODEL)}, [], ["O"],
     lambda Hs, Ss, W: attend(Hs @ W @ Ss.transpose(-1, -2), Ss)),
    ("linear", far, [], ["O"], lambda Q, K, V: (lambda q, k: q @ (k.transpose(-1, -2) @ V) /
                                                (q @ k.sum(-2)[..., None]))(elu_plus_one(Q), elu_plus_one(K))),
    ("linear_causal", near, [], ["O"], linear_causal),
    ("sigmoids", far, [], ["O"], lambda Q, K, V: torch.sigmoid(scores_of(Q, K) - math.log(M)) @ V),
    ("with_sink", far | {"sink": (H,)}, [], ["O"], with_sink),
    ("turned", near, [], ["O"], lambda Q, K, V: attend(scores_of(rope(Q), rope(K)), V, triangle)),
    ("cosines", far | {"scale": (H,)}, [], ["O"],
     lambda Q, K, V, scale: attend(unit(Q) @ unit(K).transpose(-1, -2) * scale[:, None, None], V)),
    ("two_softmaxes", {"Q": far["Q"], "K": far["K"], "Q2": far["Q"], "K2": far["K"], "V": far["V"], "lambda": ()}, [],
     ["O"], lambda Q, K, Q2, K2, V, scale: attend(scores_of(Q, K), V) - scale * attend(scores_of(Q2, K2), V)),
    ("layer", X | {"Wq": (MODEL, H, D), "Wk": (MODEL, H, D), "Wv": (MODEL, H, E), "Wo": (H, E, MODEL)}, [], ["Y"], layer),
    ("normed", X | {"gamma": (MODEL,), "beta": (MODEL,), "W1": (MODEL, HIDDEN), "W2": (HIDDEN, MODEL)}, [], ["Y"],
     lambda x, gamma, beta, W1, W2: x + F.gelu(F.layer_norm(x, (MODEL,), gamma, beta) @ W1) @ W2),
    ("gated", X | {"gamma": (MODEL,), "W1": (MODEL, HIDDEN), "W2": (MODEL, HIDDEN), "W3": (HIDDEN, MODEL)}, [], ["Y"],
     gated),
    ("classified", {"words": (VOCABULARY, MODEL), "W": (MODEL, VOCABULARY)}, [tokens, following], ["loss"],
     lambda table, W, t, n: F.cross_entropy((table[t] @ W).flatten(0, 1), n.flatten())),
    ("elman", X | {"W": (MODEL, D), "U": (D, D), "b": (D,), "h0": (B, D)}, [], ["H", "last"], elman),
    ("delta", {"S0": (B, D, E), "Q": (B, S, D), "K": (B, S, D), "V": (B, S, E), "beta": (B, S)}, [], ["O"], delta),
    ("statistics", X, [], ["total", "most", "sums", "shares"],
     lambda x: (torch.logsumexp(x, -1), x.amax(1), x.cumsum(1), torch.softmax(x, -1))),
]


def write(name, array, number):
    numbers = " ".join(number(x) for x in numpy.asarray(array).flatten())
    print(name, len(numpy.shape(array)), *numpy.shape(array), numbers)


def main():
    short = lambda x: f"{x:.3f}"
    for name, shapes, whole, results, formula in CASES:
        print("case", name)
        arguments = {n: numpy.round(random.standard_normal(shape), 3) for n, shape in shapes.items()}
        for n, x in arguments.items():
            write(n, x, short)
        for n, x in whole:
            write(n, x, str)
        tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in arguments.values()]
        found = formula(*tensors, *(torch.tensor(x) for _, x in whole))
        found = found if isinstance(found, tuple) else (found,)
        total = 0
        for n, x in zip(results, found):
            adjoint = numpy.round(random.standard_normal(tuple(x.shape)), 3)
            write("d" + n, adjoint, short)
            total = total + (torch.tensor(adjoint) * x).sum()
        for n, gradient in zip(arguments, torch.autograd.grad(total, tensors)):
            write("d" + n, gradient.numpy(), lambda x: f"{x:.12g}")


main()
