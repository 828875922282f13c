#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Latency of the whole encoder beside PyTorch and ONNX Runtime, taking turns in one run.

    compare.py MODEL MINILM_SERVE [--threads N] [--seconds S]

MODEL: the folder of model.safetensors; MINILM_SERVE: the built program of that name. What is not installed is left out,
and why is said. Every vector is compared with qkv's. Numbers are milliseconds: the median, and the fastest call.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

from peers import PEERS

HERE = pathlib.Path(__file__).parent


def read_safetensors(path):
    data = memoryview(path.read_bytes())
    length = int.from_bytes(data[:8], "little")
    header = json.loads(bytes(data[8:8 + length]))
    header.pop("__metadata__", None)
    body = data[8 + length:]
    return {name: np.frombuffer(body[slice(*at["data_offsets"])], np.float32).reshape(at["shape"]).copy()
            for name, at in header.items() if at["dtype"] == "F32"}


def cases():
    """Tokens by what they are: real sentences, and a full batch of long ones."""
    sentences = np.load(HERE / "expected/input_ids.npy")
    yield "1 sentence, 20 tokens", sentences[:1]
    yield "32 sentences, 6 to 20 tokens", sentences[np.arange(32) % len(sentences)]
    yield "32 sentences, 128 tokens", np.random.default_rng(1).integers(1000, 30000, (32, 128))


class Served:
    """minilm_serve as a peer that measures itself."""

    def __init__(self, program, model, threads, folder):
        self.ids, self.out = folder / "ids.npy", folder / "out.npy"
        self.process = subprocess.Popen([program, model, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, ids, calls):
        np.save(self.ids, ids)
        self.process.stdin.write(f"{self.ids} {self.out} {calls}\n")
        self.process.stdin.flush()
        times = [float(t) for t in self.process.stdout.readline().split()]
        return times, np.load(self.out)


class Called:
    def __init__(self, encode):
        self.encode = encode

    def __call__(self, ids, calls):
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            vectors = self.encode(ids)
            times.append((time.perf_counter() - begin) * 1e3)
        return times, vectors


def measure(peers, ids, seconds):
    """Times by peer: each in turn for a few calls, until the time is over."""
    least, times = {}, {name: [] for name in peers}
    vectors = {}
    for name, run in peers.items():
        least[name] = min(run(ids, 3)[0])
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times["qkv"]) < 5:
        for name, run in peers.items():
            some, vectors[name] = run(ids, 1 + int(50 / least[name]))
            times[name] += some
    for name, v in vectors.items():
        cosine = np.min(np.sum(v * vectors["qkv"], 1) / np.linalg.norm(v, axis=1) / np.linalg.norm(vectors["qkv"], axis=1))
        assert cosine > 0.99999, f"{name} computes something else: cosine {cosine}"
    return times


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("model")
    arguments.add_argument("serve")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=5)
    a = arguments.parse_args()
    weights = read_safetensors(pathlib.Path(a.model, "model.safetensors"))
    with tempfile.TemporaryDirectory() as folder:
        peers = {"qkv": Served(a.serve, a.model, a.threads, pathlib.Path(folder))}
        for name, make in PEERS.items():
            try:
                peers[name] = Called(make(weights, a.threads))
            except ImportError as e:
                print(f"[SKIP] {name}: {e}")
        print(f"{a.threads} thread{'s' * (a.threads > 1)}: " + ", ".join(peers))
        for what, ids in cases():
            row = measure(peers, ids, a.seconds)
            print(f"{what:30}", *(f"{name} {statistics.median(t):.2f} ({min(t):.2f})" for name, t in row.items()),
                  sep="  ", flush=True)
        peers["qkv"].process.stdin.close()
        peers["qkv"].process.wait()


if __name__ == "__main__":
    main()
