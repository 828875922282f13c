"""The cases of the benchmark: shapes, inputs, what they cost at least, and what is right."""
import math
from dataclasses import dataclass, field

import numpy as np


class Refuses(Exception):
    """This peer has no way to express the case."""


def bf16_bits(x):
    u = x.view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_round(x):
    return (bf16_bits(x).astype(np.uint32) << 16).view(np.float32)


@dataclass
class Case:
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

    def __post_init__(self):
        self.Hkv = self.Hkv or self.Hq
        self.Skv = self.Skv or self.Sq
        self.Dv = self.Dv or self.Dk
        assert self.Hq % self.Hkv == 0 and self.dtype in ("fp32", "bf16"), self.name
        assert self.mask in ("none", "causal", "window", "padding", "bias"), self.name
        assert (self.mask == "padding") == bool(self.lengths) and (self.mask == "window") == bool(self.window), self.name

    def make_inputs(self):
        rng = np.random.default_rng(7)

        def normal(*shape):
            x = rng.standard_normal(shape, dtype=np.float32)
            return bf16_round(x) if self.dtype == "bf16" else x

        self.q = normal(self.B, self.Hq, self.Sq, self.Dk)
        self.k = normal(self.B, self.Hkv, self.Skv, self.Dk)
        self.v = normal(self.B, self.Hkv, self.Skv, self.Dv)
        self.bias = rng.standard_normal((1, self.Hq, self.Sq, self.Skv), dtype=np.float32) if self.mask == "bias" else None

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
        return 2 * self.Hq * self.pairs() * (self.Dk + self.Dv)

    def kv_bytes(self):
        keys = sum(self.lengths) if self.mask == "padding" else self.B * self.Skv
        return keys * self.Hkv * (self.Dk + self.Dv) * self.item

    def bytes(self):
        q_and_out = self.B * self.Hq * self.Sq * (self.Dk + self.Dv) * self.item
        return self.kv_bytes() + q_and_out + (self.bias.nbytes if self.bias is not None else 0)

    @property
    def item(self):
        return 4 if self.dtype == "fp32" else 2

    def least_seconds(self, ceilings):
        sizes = sorted((int(m) * 2**20, gbs) for m, gbs in ceilings["read_gbs"].items())
        bandwidth = next((gbs for size, gbs in reversed(sizes) if size <= self.bytes()), sizes[0][1])
        peak = ceilings["fp32_gflops"] if self.dtype == "fp32" else ceilings["bf16_gflops"]
        exp = self.Hq * self.pairs() / ceilings["exp_gops"] if ceilings["exp_gops"] else 0
        return 1e-9 * max(self.flops() / peak, exp, self.bytes() / bandwidth)

    def reference(self):
        """float64 on some query rows: (row numbers, array [B, Hq, rows, Dv])."""
        n = self.Sq
        rows = np.arange(n) if n <= 96 else np.unique(np.r_[0:24, n - 24:n, np.linspace(24, n - 25, 48).astype(int)])
        visible = self.visible(rows)
        out = np.zeros((self.B, self.Hq, len(rows), self.Dv))
        for b in range(self.B):
            for h in range(self.Hq):
                k, v = self.k[b, h // self.group].astype(np.float64), self.v[b, h // self.group].astype(np.float64)
                s = self.scale * (self.q[b, h, rows].astype(np.float64) @ k.T)
                if self.softcap:
                    s = self.softcap * np.tanh(s / self.softcap)
                if self.bias is not None:
                    s += self.bias[0, h, rows]
                if visible is not None:
                    s = np.where(visible[b if len(visible) > 1 else 0, 0], s, -np.inf)
                top = s.max(-1, keepdims=True)
                p = np.exp(s - np.where(np.isfinite(top), top, 0))
                total = p.sum(-1, keepdims=True)
                out[b, h] = (p / np.where(total == 0, 1, total)) @ v
        return rows, out


def default_cases():
    cases, no_flex = [], ["torch-flex"]

    def add(name, Hq, Sq, Dk, **rest):
        cases.append(Case(name, Hq, Sq, Dk, **rest))

    for d in (64, 128):
        for s in (128, 512, 2048, 8192):  # 8192 with one head: the time of a call grows with heads, the speed does not
            for mask in ("none", "causal"):
                add(f"d{d}-s{s}-{'full' if mask == 'none' else mask}", 1 if s == 8192 else 8, s, d, mask=mask,
                    skip=no_flex if mask == "none" and s != 2048 or s == 128 or s == 512 and d == 128 else [])
    add("gqa32/8-d128-s1024-causal", 32, 1024, 128, Hkv=8, mask="causal")
    add("cross-256x1500-d64", 8, 256, 64, Skv=1500, skip=no_flex)
    add("dk64-dv128-s1024", 8, 1024, 64, Dv=128)
    add("bias-d64-s1024", 8, 1024, 64, mask="bias")
    add("padding-b4-d64-s512", 8, 512, 64, B=4, mask="padding", lengths=[512, 384, 200, 77])
    add("window512-d64-s4096", 8, 4096, 64, mask="window", window=512)
    add("softcap-d128-s1024-causal", 8, 1024, 128, mask="causal", softcap=30.0)
    add("small-s64-h12-d32", 12, 64, 32, skip=no_flex)
    add("small-b8-s128-h12-d32", 12, 128, 32, B=8, skip=no_flex)
    for n in (512, 4096, 32768):
        add(f"decode-{n}-h8-d128", 8, 1, 128, Skv=n, skip=no_flex)
        add(f"decode-{n}-gqa32/8-d128", 32, 1, 128, Hkv=8, Skv=n, skip=no_flex if n == 512 else [])
    add("bf16-d64-s512-causal", 8, 512, 64, dtype="bf16", mask="causal")
    add("bf16-d64-s2048-full", 8, 2048, 64, dtype="bf16", skip=no_flex)
    add("bf16-d128-s2048-full", 8, 2048, 128, dtype="bf16")
    add("bf16-d128-s2048-causal", 8, 2048, 128, dtype="bf16", mask="causal")
    add("bf16-gqa32/8-d128-s1024-causal", 32, 1024, 128, dtype="bf16", Hkv=8, mask="causal")
    add("bf16-small-b8-s128-h12-d32", 12, 128, 32, dtype="bf16", B=8, skip=no_flex)
    add("bf16-decode-4096-gqa32/8-d128", 32, 1, 128, dtype="bf16", Hkv=8, Skv=4096)
    add("bf16-decode-32768-gqa32/8-d128", 32, 1, 128, dtype="bf16", Hkv=8, Skv=32768)
    return cases
