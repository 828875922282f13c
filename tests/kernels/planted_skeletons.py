#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Plants one mistake at a time in the text of a skeleton, compiles a printed kernel from it, and runs that in place of
the right one on the emulator of tests/cuda: each must be noticed, by the emulator or by a wrong result.
Usage: planted_skeletons.py TRIAL GENERATOR NVCC [--shard K/N] [--only NAME], with the emulator in LD_LIBRARY_PATH.
TRIAL: skeleton_trial; GENERATOR: that of its kernels."""
import argparse
import itertools
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from skeleton_mistakes import HARMLESS, MISTAKES

SKELETONS = pathlib.Path(__file__).resolve().parents[2] / "codegen/cuda/skeletons"
LEAST = 40
REPLACED = "runs in place of a module"


class Failure(Exception):
    pass


def text_of(done):
    return (done.stdout + done.stderr).strip()


def body_of(skeleton):
    """The part of a skeleton that a printed kernel has: all after the includes."""
    lines = (SKELETONS / skeleton).read_text().splitlines(keepends=True)
    return "".join(itertools.dropwhile(lambda line: line.startswith(("// SPDX", "#include")), lines))


class Bench:
    """Kernels as text and as PTX, in a temporary folder, and what runs them."""

    def __init__(self, trial, generator, nvcc, folder):
        self.trial, self.generator, self.nvcc = trial, generator, nvcc
        self.folder = pathlib.Path(folder)
        self.right = {}  # trials of kernels without mistakes: what they print

    def texts(self, run):
        """The files of a kernel that hold what this trial runs."""
        folder = self.folder / run.kernel
        if not folder.exists():
            folder.mkdir()
            done = subprocess.run(
                [self.generator, "kernel", run.kernel, "--out", folder, "--targets", "cuda", "--cuda-compiler", self.nvcc,
                 "--assembly"], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Failure(f"{run.kernel} was not generated: {text_of(done)}")
        found = sorted(folder.glob(f"*{run.code}.cu"))
        if not found:
            raise Failure(f"{run.kernel} has no code {run.code}")
        return found

    def planted(self, mistake, file):
        """The PTX of this text with the mistake."""
        text, right = file.read_text(), body_of(mistake.file)
        if text.count(right) != 1:
            raise Failure(f"{file.name} does not use {mistake.file}")
        source, result = self.folder / "planted.cu", self.folder / f"{file.stem}.planted.ptx"
        source.write_text(text.replace(right, right.replace(mistake.text, mistake.instead)))
        architecture = "sm_90a" if ".sm_90a." in file.name else "sm_80"
        done = subprocess.run([self.nvcc, "-std=c++17", "-O3", "-ptx", "-arch=" + architecture, "-o", result, source],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"is refused by the compiler: {text_of(done)}")
        return result

    def run(self, run, instead=()):
        environment = dict(os.environ, QKV_CUDA_MUST_RUN="1", PTX_SEED=str(run.order), PTX_SM=str(run.capability),
                           PTX_INSTEAD=",".join(f"{a}={b}" for a, b in instead))
        command = [self.trial, run.program, *map(str, (run.rows, run.keys, run.seed, run.scale))]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
        except subprocess.TimeoutExpired as e:
            raise Failure("does not end") from e
        return done.returncode, text_of(done)

    def check_right(self, run):
        """Without a mistake, this trial passes."""
        if run not in self.right:
            self.right[run] = self.run(run)
        status, text = self.right[run]
        if status != 0:
            raise Failure(f"the trial fails without a mistake: {text}")

    def notices(self, mistake):
        """The text by which a mistake is noticed, or nothing."""
        if body_of(mistake.file).count(mistake.text) != 1:
            raise Failure(f"{mistake.file} no longer has this text once:\n{mistake.text}")
        self.check_right(mistake.run)
        instead = [(file.with_suffix(".ptx"), self.planted(mistake, file)) for file in self.texts(mistake.run)]
        status, text = self.run(mistake.run, instead)
        if REPLACED not in text:
            raise Failure(f"the trial does not run {mistake.run.code}: {text}")
        text = " ".join(line for line in text.splitlines() if REPLACED not in line)
        return text if status == 1 else "" if status == 0 else f"ends with {status}: {text}"


def verdict_on(bench, mistake):
    """The fault of this entry of the tables, or an empty text."""
    try:
        text = bench.notices(mistake)
    except Failure as e:
        return str(e)
    shown = text[max(text.rfind("ptx emulator: "), 0):][:240] or f"nothing. {mistake.reason}"
    print(f"{mistake.file}: {mistake.name}: {shown}", flush=True)
    if mistake.reason:
        return f"is not harmless: {text}" if text else ""
    if not text or mistake.noticed not in text:
        return f"is to be noticed as '{mistake.noticed}', but: {text or 'nothing'}"
    return ""


def chosen(everything, arguments):
    """Those of this shard: all of a kernel, whose text is then made once."""
    own, parts = map(int, arguments.shard.split("/"))
    kernels = sorted({m.run.kernel for m in everything})
    return [m for m in sorted(everything, key=lambda m: m.run.kernel)
            if kernels.index(m.run.kernel) % parts == own and arguments.only in ("", m.name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trial")
    parser.add_argument("generator")
    parser.add_argument("nvcc")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    names = [m.name for m in MISTAKES + HARMLESS]
    if len(set(names)) < len(names) or len(MISTAKES) < LEAST:
        print(f"there are {len(MISTAKES)} mistakes, at least {LEAST} are wanted, with names of their own")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.trial, arguments.generator, arguments.nvcc, folder)
        for m in chosen(MISTAKES + HARMLESS, arguments):
            wrong = verdict_on(bench, m)
            if wrong:
                failed += 1
                again = [sys.executable, __file__, arguments.trial, arguments.generator, arguments.nvcc, "--only", m.name]
                where = f"LD_LIBRARY_PATH={shlex.quote(os.environ.get('LD_LIBRARY_PATH', ''))}"
                print(f"{m.file}: {m.name} {wrong}\n  again: {where} {shlex.join(again)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
