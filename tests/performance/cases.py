# SPDX-License-Identifier: BSL-1.0
"""The cases of the benchmark: shapes, inputs, what they cost at least, and what is right."""
import math
from dataclasses import dataclass, field

import numpy as np


class Refuses(Exception):
    """This peer has no way to express the case."""


BYTES_PER_NUMBER = {"fp32": 4, "bf16": 2, "fp16": 2}
KINDS = ("sdpa", "linear", "additive", "layer")
MODEL_HEADS = 8  # of a layer


def bf16_bits(x):
    u = x.view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_round(x):
    return (bf16_bits(x).astype(np.uint32) << 16).view(np.float32)


def stored(x, dtype):
    """The array as a file holds it: bf16 as its bits."""
    return bf16_bits(x) if dtype == "bf16" else x.astype(np.float16) if dtype == "fp16" else x


def rounded(x, dtype):
    """Float32 numbers that this storage type holds exactly."""
    if dtype == "bf16":
        return bf16_round(x)
    return x.astype(np.float16).astype(np.float32) if dtype == "fp16" else x


@dataclass
class Case:
    """One call. `kind`: sdpa, or linear (feature map elu + 1), additive (Bahdanau: w' tanh(q + k)), layer (projections of
    Dk = Dv = 512 to 8 heads and back around self-attention; q is its input, [B, 1, S, 512])."""

    name: str
    Hq: int
    Sq: int
    Dk: int
    dtype: str = "fp32"
    B: int = 1
    Hkv: int = 0
    Skv: int = 0
    Dv: int = 0
    mask: str = "none"
    window: int = 0
    lengths: list = field(default_factory=list)
    softcap: float = 0.0
    skip: list = field(default_factory=list)  # peers left out, to save their time
    kind: str = "sdpa"

    def __post_init__(self):
        self.Hkv = self.Hkv or self.Hq
        self.Skv = self.Skv or self.Sq
        self.Dv = self.Dv or self.Dk
        assert self.Hq % self.Hkv == 0 and self.dtype in BYTES_PER_NUMBER and self.kind in KINDS, self.name
        assert self.mask in ("none", "causal", "window", "padding", "bias"), self.name
        assert self.kind == "sdpa" or self.mask == "none" and not self.softcap, self.name
        assert self.kind != "layer" or self.Hq == 1 and self.Sq == self.Skv and self.Dk == self.Dv, self.name
        assert (self.mask == "padding") == bool(self.lengths) and (self.mask == "window") == bool(self.window), self.name

    def make_inputs(self):
        rng = np.random.default_rng(7)

        def normal(*shape):
            return rounded(rng.standard_normal(shape, dtype=np.float32), self.dtype)

        self.q = normal(self.B, self.Hq, self.Sq, self.Dk)
        self.k = normal(self.B, self.Hkv, self.Skv, self.Dk)
        self.v = normal(self.B, self.Hkv, self.Skv, self.Dv)
        self.bias = rng.standard_normal((1, self.Hq, self.Sq, self.Skv), dtype=np.float32) if self.mask == "bias" else None
        self.w = None  # parameters, one after the other
        if self.kind == "additive":
            self.w = normal(self.Dk)
        elif self.kind == "layer":
            self.w = normal(4, self.Dk, self.Dk) / np.float32(math.sqrt(self.Dk))

    @property
    def phase(self):
        """The name that servers have for it: one query, a few of them, batches of short sequences, or a whole prompt."""
        if self.Sq == 1:
            return "decode"
        if self.Sq <= 16 and self.Skv > self.Sq:
            return "few queries"
        return "small" if max(self.Sq, self.Skv) <= 128 else "prefill"

    @property
    def scale(self):
        return 1 / math.sqrt(self.Dk)

    @property
    def group(self):
        return self.Hq // self.Hkv

    @property
    def square_causal(self):
        """Causal, and the two alignments of the triangle in use agree."""
        return self.mask == "causal" and self.Sq == self.Skv

    def visible(self, rows=None):
        """Boolean [B or 1, 1, rows, Skv], True where a query sees a key; None if every query sees every key."""
        rows = np.arange(self.Sq) if rows is None else rows
        i, j = rows[:, None] + self.Skv - self.Sq, np.arange(self.Skv)[None, :]
        if self.mask == "causal":
            return (j <= i)[None, None]
        if self.mask == "window":
            return ((j <= i) & (j > i - self.window))[None, None]
        if self.mask == "padding":
            return np.broadcast_to(j < np.array(self.lengths)[:, None, None, None], (self.B, 1, len(rows), self.Skv))
        return None

    def pairs(self):
        """Query-key pairs of one head, summed over the batch, by the convention at the top of this file."""
        if self.square_causal:
            return self.B * self.Sq * self.Skv / 2
        if self.mask == "padding":
            return self.Sq * sum(self.lengths)
        if self.mask in ("causal", "window"):
            i = np.arange(self.Sq) + self.Skv - self.Sq
            return self.B * int((np.minimum(i + 1, self.window) if self.window else i + 1).sum())
        return self.B * self.Sq * self.Skv

    def flops(self):
        rows = self.B * self.Sq
        if self.kind == "linear":  # k' v, its product with q, the two sums of k
            return 2 * self.B * (self.Hq * self.Sq + self.Hkv * self.Skv) * self.Dk * (self.Dv + 1)
        if self.kind == "layer":
            return 8 * rows * self.Dk**2 + 4 * rows * self.Skv * self.Dk
        return 2 * self.Hq * self.pairs() * (self.Dk + self.Dv)

    def exps(self):
        """Exponentials; the tanh of additive scores counts as one."""
        if self.kind == "linear":
            return self.B * (self.Hq * self.Sq + self.Hkv * self.Skv) * self.Dk
        if self.kind == "additive":
            return self.Hq * self.pairs() * (self.Dk + 1)
        return (MODEL_HEADS if self.kind == "layer" else self.Hq) * self.pairs()

    def kv_bytes(self):
        if self.kind == "layer":
            return 0
        keys = sum(self.lengths) if self.mask == "padding" else self.B * self.Skv
        return keys * self.Hkv * (self.Dk + self.Dv) * self.item

    def bytes(self):
        q_and_out = self.B * self.Hq * self.Sq * (self.Dk + self.Dv) * self.item
        given = sum(x.nbytes for x in (self.bias, self.w) if x is not None)
        return self.kv_bytes() + q_and_out + given

    @property
    def item(self):
        return BYTES_PER_NUMBER[self.dtype]

    def least_seconds(self, ceilings):
        sizes = sorted((int(m) * 2**20, gbs) for m, gbs in ceilings["read_gbs"].items())
        bandwidth = next((gbs for size, gbs in reversed(sizes) if size <= self.bytes()), sizes[0][1])
        peak = ceilings["bf16_gflops"] if self.dtype == "bf16" else ceilings["fp32_gflops"]
        exp = self.exps() / ceilings["exp_gops"] if ceilings["exp_gops"] else 0
        return 1e-9 * max(self.flops() / peak, exp, self.bytes() / bandwidth)

    def reference(self):
        """float64 on some query rows: (row numbers, array [B, Hq, rows, Dv])."""
        n = self.Sq
        rows = np.arange(n) if n <= 96 else np.unique(np.r_[0:24, n - 24:n, np.linspace(24, n - 25, 48).astype(int)])
        if self.kind == "layer":
            return rows, self.layer(rows)
        visible = self.visible(rows)
        out = np.zeros((self.B, self.Hq, len(rows), self.Dv))
        for b in range(self.B):
            for h in range(self.Hq):
                q, k, v = (x.astype(np.float64) for x in (self.q[b, h, rows], self.k[b, h // self.group], self.v[b, h // self.group]))
                if self.kind == "linear":
                    q, k = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (q, k))
                    out[b, h] = q @ (k.T @ v) / (q @ k.sum(0))[:, None]
                    continue
                seen = None if visible is None else visible[b if len(visible) > 1 else 0, 0]
                out[b, h] = softmax(self.scores(q, k, h, rows), seen) @ v
        return rows, out

    def scores(self, q, k, h, rows):
        if self.kind == "additive":
            return np.tanh(q[:, None] + k[None]) @ self.w.astype(np.float64)
        s = self.scale * (q @ k.T)
        if self.softcap:
            s = self.softcap * np.tanh(s / self.softcap)
        return s if self.bias is None else s + self.bias[0, h, rows]

    def layer(self, rows):
        x, (wq, wk, wv, wo) = self.q[:, 0].astype(np.float64), self.w.astype(np.float64)
        split = lambda y: y.reshape(*y.shape[:2], MODEL_HEADS, -1).transpose(0, 2, 1, 3)
        q, k, v = split(x[:, rows] @ wq), split(x @ wk), split(x @ wv)
        y = softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(self.Dk / MODEL_HEADS)) @ v
        return (y.transpose(0, 2, 1, 3).reshape(self.B, len(rows), self.Dk) @ wo)[:, None]


def softmax(s, visible=None):
    """Rows without a visible key are 0."""
    if visible is not None:
        s = np.where(visible, s, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = p.sum(-1, keepdims=True)
    return p / np.where(total == 0, 1, total)


def default_cases():
    """At most 96 cells that cover every pair of (storage type, phase), (head size, phase) and (mask, phase)."""
    cases, no_flex = [], ["torch-flex"]
    sizes = (24, 32, 40, 64, 72, 80, 96, 128, 192, 256)

    def add(name, Hq, Sq, Dk, **rest):
        cases.append(Case(name, Hq, Sq, Dk, **rest))

    # Prompts. 8192 with one head: the time of a call grows with heads, the speed does not.
    for d in (64, 128):
        for s in (512, 2048):
            add(f"d{d}-s{s}-full", 8, s, d, skip=[] if s == 2048 else no_flex)
            add(f"d{d}-s{s}-causal", 8, s, d, mask="causal", skip=[] if s == 2048 or d == 64 else no_flex)
    add("d64-s8192-full", 1, 8192, 64, skip=no_flex)
    add("d128-s8192-causal", 1, 8192, 128, mask="causal")
    for d in sizes:
        if d not in (64, 128):
            add(f"d{d}-s1000-full", 4, 1000, d, skip=no_flex)
    add("d72-s1000-causal", 4, 1000, 72, mask="causal", skip=no_flex)
    add("dk64-dv128-s1024", 8, 1024, 64, Dv=128)
    add("gqa32/8-d128-s1024-causal", 32, 1024, 128, Hkv=8, mask="causal")
    add("cross-256x1500-d64", 8, 256, 64, Skv=1500, skip=no_flex)
    add("bias-d64-s1024", 8, 1024, 64, mask="bias")
    add("padding-b4-d64-s512", 8, 512, 64, B=4, mask="padding", lengths=[512, 384, 200, 77])
    add("window512-d64-s4096", 8, 4096, 64, mask="window", window=512)
    add("window128-d128-s2048", 8, 2048, 128, mask="window", window=128, skip=no_flex)
    add("softcap-d128-s1024-causal", 8, 1024, 128, mask="causal", softcap=30.0)
    for dtype in ("bf16", "fp16"):
        add(f"{dtype}-d64-s2048-full", 8, 2048, 64, dtype=dtype, skip=no_flex)
        add(f"{dtype}-d128-s2048-causal", 8, 2048, 128, dtype=dtype, mask="causal", skip=[] if dtype == "bf16" else no_flex)
    add("bf16-d128-s2048-full", 8, 2048, 128, dtype="bf16", skip=no_flex)
    add("bf16-gqa32/8-d128-s1024-causal", 32, 1024, 128, dtype="bf16", Hkv=8, mask="causal", skip=no_flex)

    # One query, and a few of them, against a cache.
    for n in (512, 4096, 32768):
        add(f"decode-{n}-h8-d128", 8, 1, 128, Skv=n, skip=no_flex)
        add(f"decode-{n}-gqa32/8-d128", 32, 1, 128, Hkv=8, Skv=n, skip=no_flex if n == 512 else [])
    for dtype in ("bf16", "fp16"):
        add(f"{dtype}-decode-32768-gqa32/8-d128", 32, 1, 128, dtype=dtype, Hkv=8, Skv=32768, skip=no_flex)
    for phase, q, n in (("decode", 1, 6000), ("few", 5, 3000)):
        for d in sizes:
            if d != 128:
                add(f"{phase}-{n}-d{d}", 8, q, d, Skv=n, skip=no_flex)
        add(f"{phase}-{n}-dk64-dv128", 8, q, 64, Dv=128, Skv=n, skip=no_flex)
        add(f"{phase}-{n}-causal", 16, q, 128, Hkv=4, Skv=n, mask="causal", skip=no_flex)
        add(f"{phase}-{n}-window512", 16, q, 128, Hkv=4, Skv=n, mask="window", window=512, skip=no_flex)
        add(f"{phase}-{n}-padding", 16, q, 128, B=4, Hkv=4, Skv=n, mask="padding", lengths=[n, n // 2, 77, n - 9], skip=no_flex)
        add(f"{phase}-{n}-bias", 16, q, 128, Hkv=4, Skv=n, mask="bias", skip=no_flex)
        add(f"{phase}-{n}-softcap", 16, q, 128, Hkv=4, Skv=n, mask="causal", softcap=30.0, skip=no_flex)
    for dtype in ("fp32", "bf16", "fp16"):
        add(f"{dtype}-few8-4096-gqa32/8-d128", 32, 8, 128, dtype=dtype, Hkv=8, Skv=4096, skip=no_flex)

    # Batches of short sequences.
    for d, s in zip(sizes, (33, 128, 48, 64, 36, 40, 100, 45, 48, 33)):
        add(f"small-b8-s{s}-d{d}", 12, s, d, B=8, skip=no_flex)
    add("small-b8-s40-dk64-dv128", 12, 40, 64, B=8, Dv=128, skip=no_flex)
    add("small-b1-s16-d64", 12, 16, 64, skip=no_flex)
    add("small-b1-s64-causal", 12, 64, 64, mask="causal", skip=no_flex)
    add("small-b8-s128-window128", 12, 128, 64, B=8, mask="window", window=128, skip=no_flex)
    add("small-b8-s64-padding", 12, 64, 64, B=8, mask="padding", lengths=[64, 9, 33, 48, 20, 64, 1, 50], skip=no_flex)
    add("small-b1-s100-bias", 12, 100, 64, mask="bias", skip=no_flex)
    add("small-b8-s48-softcap", 12, 48, 64, B=8, mask="causal", softcap=30.0, skip=no_flex)
    for dtype in ("bf16", "fp16"):
        add(f"{dtype}-small-b8-s48-d64", 12, 48, 64, B=8, dtype=dtype, skip=no_flex)

    # Other scores, and a layer.
    add("linear-elu-s2048-d64", 8, 2048, 64, kind="linear")
    add("additive-s256-d64", 4, 256, 64, kind="additive")
    add("layer-b4-s512-m512", 1, 512, 512, B=4, kind="layer")
    return cases
