#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The backward of attentions with a score, mask or bias beside the plain one's, on one thread: variants.py BUILD [--turns 5]

BUILD has the tools of this folder. Backwards start from what the forward has kept; they take turns, and the least times
are compared. Windows of 256 keys see 11.7 % of the pairs that plain attention does."""
import argparse
import json
import pathlib
import subprocess

SIZES = ("batch=1", "heads=4", "seq=2048")
VISIBLE = {"windowed": (256 * 2048 - 256 * 255 / 2) / 2048**2}
KERNELS = ("softcapped", "sloped", "tabled", "biased", "fixed_bias", "windowed", "sunk", "dropped")


def least_ms(tool, kernel):
    command = [tool, "bench", kernel + "_gradient_saved", "--size", *SIZES, "--threads", "1", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["min_ms"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--turns", type=int, default=5)
    options = p.parse_args()
    tools = options.build / "tests/performance/gradient"
    plain = float("inf")
    least = dict.fromkeys(KERNELS, float("inf"))
    for _ in range(options.turns):
        plain = min(plain, least_ms(tools / "gradient_bench_tool", "full_d64"))
        for kernel in KERNELS:
            least[kernel] = min(least[kernel], least_ms(tools / "gradient_variants_tool", kernel))
    print(f"plain         {plain:6.1f} ms")
    for kernel, ms in least.items():
        print(f"{kernel:12}  {ms:6.1f} ms  {ms / plain / VISIBLE.get(kernel, 1):.2f} of plain for the same pairs")


if __name__ == "__main__":
    main()
