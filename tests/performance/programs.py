# SPDX-License-Identifier: BSL-1.0
"""Peers that are programs, spoken to over stdin and stdout by the protocol that peers.py documents."""
import json
import os
import subprocess
from dataclasses import fields

import numpy as np

import settings
from cases import Refuses, stored


class Program:
    """An external peer, spoken to by the protocol at the top of this file."""

    def __init__(self, path, c, folder):
        save = lambda name, x: (np.save(os.path.join(folder, name), np.ascontiguousarray(x)), os.path.join(folder, name + ".npy"))[1] if x is not None else ""
        self.out = os.path.join(folder, "out.npy")
        if os.path.exists(self.out):
            os.remove(self.out)
        line = {f.name: getattr(c, f.name) for f in fields(c) if f.name not in ("lengths", "skip")}
        lengths = np.array(c.lengths, np.int32) if c.lengths else None
        line |= dict(scale=c.scale, threads=settings.threads, out=self.out, bias=save("bias", c.bias), w=save("w", c.w),
                     lengths=save("lengths", lengths))
        line |= {name: save(name, stored(getattr(c, name), c.dtype)) for name in "qkv"}
        self.process = subprocess.Popen(path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answer = self.ask(json.dumps(line))
        if answer.startswith("unsupported"):
            raise Refuses(answer[len("unsupported"):].strip())
        if answer != "ready":
            raise RuntimeError(f"answered {answer!r} to the case")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"exited with {self.process.wait()}")
        return answer.strip()

    def times(self, n):
        return [int(t) * 1e-9 for t in self.ask(f"run {n}").split()]

    def result(self, _):
        if self.ask("write") != "ok":
            raise RuntimeError("could not write its output")
        return np.load(self.out)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
