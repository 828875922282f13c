#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The kernels of the examples against NumPy: formulas written once more, in double precision.

    numpy_values.py EXAMPLE TOOL     `TOOL run` computes each kernel of the example on random numbers
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("[SKIP] NumPy is not installed")
    sys.exit()

ENTRIES, N, M = 2, 9, 7  # batch, tokens of one side and of the other
numbers = np.random.default_rng(7)
e = np.einsum


def softmax(s, axis=-1):
    p = np.exp(s - s.max(axis, keepdims=True))
    return p / p.sum(axis, keepdims=True)


def attend(Q, K, V, seen=True, scale=None):
    """Of any axes before the last two; `seen`: true where a query sees a key."""
    s = Q @ np.swapaxes(K, -1, -2) * (Q.shape[-1] ** -0.5 if scale is None else scale)
    return softmax(np.where(seen, s, -np.inf)) @ V


def causal(n):
    return np.tri(n, dtype=bool)


def first(lengths, n):
    """[batch, n]: true for the first keys of each entry."""
    return np.arange(n) < lengths[:, None]


def normal(*shape, scale=1.0):
    return numbers.normal(scale=scale, size=shape).astype(np.float32)


def weights(*shape):
    return normal(*shape, scale=shape[0] ** -0.5)


def layer_norm(x, gamma, beta):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * gamma + beta


def unit(x):
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


def elu_plus_one(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def heads_of(h, n, m, dk, dv):
    return dict(Q=normal(h, n, dk), K=normal(h, m, dk), V=normal(h, m, dv))


def linear(Q, K, V):
    q, k = elu_plus_one(Q), elu_plus_one(K)
    return (q @ (np.swapaxes(k, -1, -2) @ V)) / (q @ k.sum(-2)[..., None])


def mha(X, Wq, Wk, Wv, Wo, bo):
    Q, K, V = (e("bnd,dhk->bhnk", X, W) for W in (Wq, Wk, Wv))
    return e("bhnk,hkd->bnd", attend(Q, K, V, causal(X.shape[1])), Wo) + bo


def mha_in_seven_steps(X, Wq, Wk, Wv, Wo, bo):
    split = lambda W: W.reshape(512, 8, 64)
    return mha(X, split(Wq), split(Wk), split(Wv), Wo.reshape(8, 64, 512), bo)


def project(x, W):
    return e("bnd,dhk->bhnk", x, W)


def sublayers(S, source_K, source_V, source_length, w):
    seen = first(source_length, source_K.shape[2])[:, None, None]
    A = layer_norm(S + e("bhnk,hkd->bnd", attend(project(S, w["Cq"]), source_K, source_V, seen), w["Co"]),
                   w["gamma2"], w["beta2"])
    hidden = np.maximum(A @ w["W1"] + w["b1"], 0)
    return layer_norm(A + hidden @ w["W2"] + w["b2"], w["gamma3"], w["beta3"])


def own_attention(X, K, V, seen, w):
    own = attend(project(X, w["Wq"]), K, V, seen)
    return layer_norm(X + e("bhnk,hkd->bnd", own, w["Wo"]), w["gamma1"], w["beta1"])


def encoder_layer(X, source_length, **w):
    A = own_attention(X, project(X, w["Wk"]), project(X, w["Wv"]), first(source_length, X.shape[1])[:, None, None], w)
    hidden = np.maximum(A @ w["W1"] + w["b1"], 0)
    return layer_norm(A + hidden @ w["W2"] + w["b2"], w["gamma2"], w["beta2"])


def decoder_layer(X, E, source_length, **w):
    S = own_attention(X, project(X, w["Wk"]), project(X, w["Wv"]), causal(X.shape[1]), w)
    return sublayers(S, project(E, w["Ck"]), project(E, w["Cv"]), source_length, w)


def decoder_step(X, K, V, length, source_K, source_V, source_length, **w):
    S = own_attention(X, K, V, first(length, K.shape[2])[:, None, None], w)
    return sublayers(S, source_K, source_V, source_length, w)


def layer_weights(*names):
    shapes = dict(W1=(64, 128), b1=(128,), W2=(128, 64), b2=(64,), Wo=(4, 16, 64), Co=(4, 16, 64))
    return {n: weights(*shapes.get(n, (64,) if n[:2] in ("ga", "be") else (64, 4, 16))) for n in names}


def flow(X, beta, rate):
    found = []
    for _ in range(8):
        X = unit(X + rate * softmax(beta * X @ X.T) @ X)
        found.append(X)
    return tuple(found)


def scaling(Q, K):
    raw = Q @ K.T
    scaled = raw / np.sqrt(Q.shape[1])
    return (raw ** 2).mean(), (scaled ** 2).mean(), softmax(raw).max(-1), softmax(scaled).max(-1)


def landmarks(Q, K, V):
    L = Q.reshape(8, 64, -1, 64).mean(2)
    return attend(Q, L, attend(L, K, V))


def one_query(q, K, V, length):
    seen = np.arange(K.shape[-2]) < length
    return attend(q[:, None], K, V, seen)[:, 0]


def of_scores(scores, s, length):
    return softmax(np.where(first(length, s.shape[1])[:, None], scores, -np.inf)) @ s


def words():
    return dict(h=normal(ENTRIES, 3, 64), s=normal(ENTRIES, N, 64), length=np.array([N, 4], np.int32))


def cross(X, E, F, Wq, bq, Wk, bk, Wv, bv, Wo):
    Q, K, V = (e("bnd,dhk->bhnk", x, W) + b[:, None] for x, W, b in ((X, Wq, bq), (E, Wk, bk), (F, Wv, bv)))
    return e("bhnk,hkd->bnd", attend(Q, K, V), Wo)


def with_bias(Q, K, V, change=lambda s: s, seen=True):
    s = change(Q @ np.swapaxes(K, -1, -2) / 4)
    return softmax(np.where(causal(N) & seen, s, -np.inf)) @ V


distance = np.arange(N)[:, None] - np.arange(N)
four = dict(Q=normal(4, N, 16), K=normal(4, N, 16), V=normal(N, 32))
document = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2], np.int32)
lengths = np.array([M, 3], np.int32)

# By example and kernel: arguments, results by name, and the formula.
CASES = {
    "self_attention": {
        "self_attention": (dict(Q=normal(ENTRIES, 8, N, 64), K=normal(ENTRIES, 8, N, 64), V=normal(ENTRIES, 8, N, 64)),
                           ["O"], attend),
        "causal_attention": (dict(Q=normal(ENTRIES, 8, N, 64), K=normal(ENTRIES, 8, N, 64),
                                  V=normal(ENTRIES, 8, N, 64)), ["O"], lambda Q, K, V: attend(Q, K, V, causal(N))),
    },
    "multi_head": {
        "mha": (dict(X=normal(ENTRIES, N, 512), Wq=weights(512, 8, 64), Wk=weights(512, 8, 64), Wv=weights(512, 8, 64),
                     Wo=weights(8, 64, 512), bo=normal(512)), ["Y"], mha),
        "mha_in_seven_steps": (dict(X=normal(ENTRIES, N, 512), **{w: weights(512, 512) for w in ("Wq", "Wk", "Wv", "Wo")},
                                    bo=normal(512)), ["Y"], mha_in_seven_steps),
    },
    "encoder_decoder": {
        "encoder_layer": (dict(X=normal(ENTRIES, M, 64), source_length=lengths,
                               **layer_weights("Wq", "Wk", "Wv", "Wo", "gamma1", "beta1", "W1", "b1", "W2", "b2",
                                               "gamma2", "beta2")), ["Y"], encoder_layer),
        "decoder_layer": (dict(X=normal(ENTRIES, N, 64), E=normal(ENTRIES, M, 64), source_length=lengths,
                               **layer_weights("Wq", "Wk", "Wv", "Wo", "gamma1", "beta1", "Cq", "Ck", "Cv", "Co",
                                               "gamma2", "beta2", "W1", "b1", "W2", "b2", "gamma3", "beta3")),
                          ["Y"], decoder_layer),
        "decoder_step": (dict(X=normal(ENTRIES, 1, 64), K=normal(ENTRIES, 4, N, 16), V=normal(ENTRIES, 4, N, 16),
                              length=np.array([4, N], np.int32), source_K=normal(ENTRIES, 4, M, 16),
                              source_V=normal(ENTRIES, 4, M, 16), source_length=lengths,
                              **layer_weights("Wq", "Wo", "gamma1", "beta1", "Cq", "Co", "gamma2", "beta2", "W1", "b1",
                                              "W2", "b2", "gamma3", "beta3")), ["Y"], decoder_step),
        "keys_and_values": (dict(X=normal(ENTRIES, N, 64), **layer_weights("Wk", "Wv")), ["K", "V"],
                            lambda X, Wk, Wv: (project(X, Wk), project(X, Wv))),
    },
    "flow": {"flow": (dict(X=unit(normal(N, 2)), beta=np.float32(4), rate=np.float32(0.5)),
                      [f"X{k}" for k in range(1, 9)], flow)},
    "scaling": {"scaling": (dict(Q=normal(N, 40), K=normal(M, 40)),
                            ["variance", "scaled_variance", "largest", "scaled_largest"], scaling)},
    "costs": {
        "full_attention": (heads_of(8, N, N, 64, 64), ["O"], attend),
        "low_rank": (dict(Q=normal(8, N, 64), K=normal(8, N, 64), U=normal(8, N, 8), A=normal(8, 8, 64)), ["O"],
                     lambda Q, K, U, A: attend(Q, K, U @ A)),
        "linear": (heads_of(8, N, N, 64, 64), ["O"], linear),
        "landmarks": (heads_of(8, 192, 192, 64, 64), ["O"], landmarks),
        "cached": (dict(q=normal(8, 64), K=normal(8, N, 64), V=normal(8, N, 64), length=np.int32(5)), ["o"], one_query),
        "multi_query": (dict(q=normal(8, 64), K=normal(N, 64), V=normal(N, 64), length=np.int32(5)), ["o"], one_query),
    },
    "linear_vs_softmax": {"softmax_attention": (heads_of(8, N, N, 64, 64), ["O"], attend),
                          "linear_attention": (heads_of(8, 300, 300, 64, 64), ["O"], linear)},
    "decode": {
        "prefill": (dict(Q=normal(ENTRIES, 8, N, 64), K=normal(ENTRIES, 8, N, 64), V=normal(ENTRIES, 8, N, 64)), ["O"],
                    lambda Q, K, V: attend(Q, K, V, causal(N))),
        "decode": (dict(Q=normal(ENTRIES, 8, 2, 64), K=normal(ENTRIES, 8, N, 64), V=normal(ENTRIES, 8, N, 64),
                        length=np.array([N, 5], np.int32)), ["O"],
                   lambda Q, K, V, length: attend(Q, K, V, (np.arange(N) <= length[:, None, None] - 2 +
                                                            np.arange(2)[:, None])[:, None])),
    },
    "luong_bahdanau": {
        "dot_attention": (words(), ["context"], lambda h, s, length: of_scores(h @ np.swapaxes(s, 1, 2), s, length)),
        "general_attention": (dict(**words(), W=weights(64, 64)), ["context"],
                              lambda h, s, length, W: of_scores(h @ W @ np.swapaxes(s, 1, 2), s, length)),
        "concat_attention": (dict(**words(), W=weights(128, 64), v=normal(64)), ["context"],
                             lambda h, s, length, W, v: of_scores(
                                 np.tanh((h @ W[:64])[:, :, None] + (s @ W[64:])[:, None]) @ v, s, length)),
        "additive_attention": (dict(**words(), W=weights(64, 64), U=weights(64, 64), v=normal(64)), ["context"],
                               lambda h, s, length, W, U, v: of_scores(
                                   np.tanh((h @ W)[:, :, None] + (s @ U)[:, None]) @ v, s, length)),
    },
    "three_spaces": {"cross": (dict(X=normal(ENTRIES, N, 48), E=normal(ENTRIES, M, 40), F=normal(ENTRIES, M, 56),
                                    Wq=weights(48, 4, 16), bq=normal(4, 16), Wk=weights(40, 4, 16), bk=normal(4, 16),
                                    Wv=weights(56, 4, 24), bv=normal(4, 24), Wo=weights(4, 24, 80)), ["Y"], cross)},
    "score_functions": {
        "with_alibi": (four, ["O"], lambda Q, K, V: with_bias(
            Q, K, V, lambda s: s - 2.0 ** -(2 * np.arange(1, 5))[:, None, None] * distance)),
        "with_softcap": (dict(**four, cap=np.array([1, 2, 3, 4], np.float32)), ["O"],
                         lambda Q, K, V, cap: with_bias(Q, K, V, lambda s: np.tanh(s / cap[:, None, None]) *
                                                        cap[:, None, None])),
        "with_window": (four, ["O"], lambda Q, K, V: with_bias(
            Q, K, V, seen=distance < 4 * np.arange(1, 5)[:, None, None])),
        "with_documents": (dict(**four, document=document), ["O"],
                           lambda Q, K, V, document: with_bias(Q, K, V, seen=document[:, None] == document)),
    },
}


def computed(tool, kernel, given, names, folder):
    command = [tool, "run", kernel]
    for name, x in given.items():
        np.save(folder / f"{name}.npy", x)
        command += ["--in", f"{name}={folder / name}.npy"]
    for name in names:
        command += ["--out", f"{name}={folder / ('found_' + name)}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{kernel}: {done.stdout}{done.stderr}")
    return [np.load(folder / f"found_{name}.npy") for name in names]


def main(example, tool):
    for kernel, (given, names, formula) in CASES[example].items():
        wide = {n: np.asarray(x, np.float64) if np.asarray(x).dtype == np.float32 else x for n, x in given.items()}
        expected = formula(**wide)
        with tempfile.TemporaryDirectory() as folder:
            found = computed(tool, kernel, given, names, pathlib.Path(folder))
        for name, x, y in zip(names, found, expected if isinstance(expected, tuple) else (expected,), strict=True):
            if x.shape != np.shape(y):
                sys.exit(f"{kernel}: {name} is {x.shape}, by NumPy {np.shape(y)}")
            worst = np.abs(x - y).max() / np.abs(y).max()
            if not worst < 1e-5:
                sys.exit(f"{kernel}: {name} is off by {worst:.1e} of its largest value")
            print(f"{kernel}: {name} within {worst:.1e}")


main(*sys.argv[1:])
