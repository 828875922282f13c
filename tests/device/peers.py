# SPDX-License-Identifier: BSL-1.0
"""PyTorch on the cells of cells.txt: python3 peers.py cells.txt. Prints "cell peer ms GFLOP/s" lines."""
import re
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import linear, scaled_dot_product_attention

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}


def cells(path):
    for line in open(path):
        if line.startswith("#") or not line.strip():
            continue
        name, kernel, sizes, _ = (part.strip() for part in line.split(";"))
        yield name, kernel, {k: int(v) for k, v in (word.split("=") for word in sizes.split())}


def milliseconds(call):
    """The median of 30 calls, each timed by events, after ten to warm up."""
    for _ in range(10):
        call()
    times = []
    for _ in range(30):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def dtypes(kernel):
    return (torch.bfloat16,) if "bf16" in kernel else (torch.float32,)


def attention(name, kernel, s):
    width = int(re.search(r"_d(\d+)", kernel)[1])
    causal = "causal" in kernel
    heads, group, keys = s["heads"], s.get("group", 1), s.get("keys", s["seq"])
    pairs = s["batch"] * heads * group * s["seq"] * keys / (2 if causal else 1)
    for dtype in dtypes(kernel):
        q = torch.randn(s["batch"], heads * group, s["seq"], width, device="cuda", dtype=dtype)
        k, v = (torch.randn(s["batch"], heads, keys, width, device="cuda", dtype=dtype) for _ in range(2))
        grouped = group > 1

        forward = {peer: Sdpa(q, k, v, causal, grouped, backend) for peer, backend in BACKENDS.items()}
        if "gradient" not in kernel:  # it takes half a minute to compile
            forward["flex"] = Flex(q, k, v, causal, grouped)
        # Two products for each pair forward, five backward.
        products = 2 if "gradient" not in kernel else 5 if "saved" in kernel else 7
        for peer, call in forward.items():
            if "gradient" in kernel:
                call = Gradient(call, (q, k, v), keeps="saved" in kernel)
            yield f"{peer}_{str(dtype)[6:]}", call, 2 * products * pairs * width


class Sdpa:
    def __init__(self, q, k, v, causal, grouped, backend):
        self.tensors, self.options, self.backend = (q, k, v), {"is_causal": causal, "enable_gqa": grouped}, backend

    def __call__(self):
        with sdpa_kernel(self.backend):
            return scaled_dot_product_attention(*self.tensors, **self.options)


class Gradient:
    """Forward and backward; the backward alone where the forward keeps what it needs."""

    def __init__(self, forward, inputs, keeps):
        self.forward, self.inputs, self.keeps = forward, inputs, keeps
        self.result = self.adjoint = None

    def __call__(self):
        if self.result is None or not self.keeps:
            for x in self.inputs:
                x.requires_grad_()
            self.result = self.forward()
            if self.adjoint is None:
                self.adjoint = torch.randn_like(self.result)
        return torch.autograd.grad(self.result, self.inputs, self.adjoint, retain_graph=self.keeps)


class Flex:
    """FlexAttention, compiled at the first call, so that a failure is one of that call."""

    def __init__(self, q, k, v, causal, grouped):
        self.tensors, self.causal, self.grouped, self.compiled = (q, k, v), causal, grouped, None

    def __call__(self):
        if self.compiled is None:
            from torch.nn.attention.flex_attention import create_block_mask, flex_attention

            q, k, _ = self.tensors
            self.mask = None
            if self.causal:
                self.mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[2], k.shape[2])
            self.compiled = torch.compile(flex_attention)
        return self.compiled(*self.tensors, block_mask=self.mask, enable_gqa=self.grouped)


def projection(name, kernel, s):
    flops = 2 * s["batch"] * s["seq"] * s["inner"] * s["columns"]
    for dtype in dtypes(kernel):
        x = torch.randn(s["batch"], s["seq"], s["inner"], device="cuda", dtype=dtype)
        w = torch.randn(s["columns"], s["inner"], device="cuda", dtype=dtype)
        yield f"linear_{str(dtype)[6:]}", lambda: linear(x, w), flops


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    for name, kernel, sizes in cells(sys.argv[1]):
        peers = projection(name, kernel, sizes) if kernel.startswith("projection") else attention(name, kernel, sizes)
        for peer, call, flops in peers:
            try:
                ms = milliseconds(call)
            except Exception as e:  # a back end that does not take this cell
                print(f"{name} {peer}: {e}", file=sys.stderr)
                continue
            print(name, peer, f"{ms:.4g}", f"{flops / ms * 1e-6:.1f}", flush=True)


if __name__ == "__main__":
    main()
