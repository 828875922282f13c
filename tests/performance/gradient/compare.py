#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The backward of attention beside PyTorch's flash attention, on one thread: compare.py TOOL [--match causal] [--turns 7]

TOOL is the tool of the kernels of spec.hpp. Both take turns, and medians are compared: the backward alone, from what the
forward has kept, and forward with backward. `% of peak` counts 2.5 times the products of the forward, as is usual, and
takes the peak from `ceilings.cpp` (--peak GFLOP/s)."""
import argparse
import json
import statistics
import subprocess
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

# Heads for each length: some 0.1 s a call.
CASES = [(mask, d, n, heads) for n, heads in ((512, 16), (2048, 4), (8192, 1)) for d in (64, 128) for mask in ("full", "causal")]


def ours(tool, kernel, heads, n):
    """Seconds: the median of the tool's own calls."""
    command = [tool, "bench", kernel, "--size", "batch=1", f"heads={heads}", f"seq={n}", "--threads", "1", "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer["median_ms"] / 1000


class Flash:
    def __init__(self, mask, d, n, heads):
        self.inputs = [torch.randn(1, heads, n, d, requires_grad=True) for _ in range(3)]
        self.causal = mask == "causal"
        self.kept = self.forward()
        self.adjoint = torch.randn_like(self.kept)

    def forward(self):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return scaled_dot_product_attention(*self.inputs, is_causal=self.causal)

    def backward(self):
        torch.autograd.grad(self.kept, self.inputs, self.adjoint, retain_graph=True)

    def step(self):
        torch.autograd.grad(self.forward(), self.inputs, self.adjoint)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool")
    p.add_argument("--match", default="")
    p.add_argument("--turns", type=int, default=7)
    p.add_argument("--peak", type=float, default=0.0, help="GFLOP/s")
    options = p.parse_args()
    torch.set_num_threads(1)
    print(f"{'':22} {'backward':>10} {'PyTorch':>10} {'ratio':>6}  {'% of peak':>9}   {'with forward':>12} {'PyTorch':>10} {'ratio':>6}")
    for mask, d, n, heads in CASES:
        name = f"{mask}_d{d} n={n}"
        if options.match not in name:
            continue
        flash = Flash(mask, d, n, heads)
        times = {"backward": [], "flash backward": [], "step": [], "flash step": []}
        for _ in range(options.turns):
            times["backward"].append(ours(options.tool, f"{mask}_d{d}_gradient_saved", heads, n))
            times["flash backward"].append(seconds(flash.backward))
            times["step"].append(ours(options.tool, f"{mask}_d{d}_gradient", heads, n))
            times["flash step"].append(seconds(flash.step))
        t = {k: statistics.median(v) for k, v in times.items()}
        pairs = heads * n * n / (2 if mask == "causal" else 1)
        share = f"{10 * pairs * d / t['backward'] / options.peak * 1e-7:8.1f} %" if options.peak else ""
        print(f"{name:22} {t['backward'] * 1e3:7.1f} ms {t['flash backward'] * 1e3:7.1f} ms {t['flash backward'] / t['backward']:6.2f}  {share:>9}"
              f"   {t['step'] * 1e3:9.1f} ms {t['flash step'] * 1e3:7.1f} ms {t['flash step'] / t['step']:6.2f}", flush=True)


if __name__ == "__main__":
    main()
