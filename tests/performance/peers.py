#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How fast is attention on this CPU today?  Every known peer, every case, side by side in one run.

    python peers.py                                  the default grid, one thread
    python peers.py --match decode --threads 2       some cases, two threads
    python peers.py --exe qkv=build/bench/peer       your own program as one more peer
    python peers.py --cases grid.json --json out.json
    python peers.py --json new.json --compare old.json      how this run stands to an earlier one
    python peers.py --costs                          import, first call and install size of each peer

Peers: PyTorch (SDPA, FlexAttention, eager), ONNX Runtime (Attention, MultiHeadAttention,
GroupQueryAttention), OpenVINO, JAX.  A library that is not installed is left out.  Needs numpy; `onnx` is
needed beside onnxruntime; FlexAttention and the ceilings need g++.  In a virtual environment, about 2 minutes:
    pip install numpy onnx==1.22.0 onnxruntime openvino jax torch        (6 GB: torch brings CUDA libraries)
where the CUDA 13 toolkit is installed already, half of that will do:
    pip install numpy onnx==1.22.0 onnxruntime openvino jax
    pip install --no-deps torch==2.15.0 nvidia-cufile nvidia-cusparselt-cu13 nvidia-nvshmem-cu13 nvidia-nccl-cu13
    pip install filelock typing-extensions "setuptools>=77" sympy networkx jinja2 fsspec

What is measured
    One call on inputs that are already in memory, already in the layout that peer likes best, with the
    output left where the peer puts it.  Peers take turns (A B C A B C ...) so that a slow spell of the
    machine hits all of them.  `ms` is the median over the turns, `min` the fastest turn; a turn repeats the
    call until 2 ms have passed.  A call of less than 20 ms is made three times more before its turn, and these do
    not count: peers inside this process read the same arrays and would find them in cache from the peer before,
    which a program with arrays of its own would not.  Once is not enough: a last cache that takes what the second
    one evicts holds arrays of 25 MB after two or three calls.  The process pins itself to `--threads` CPUs.
    GFLOP/s   2 * B * Hq * pairs * (Dk + Dv) / median.  pairs = Sq * Skv; half of that if causal and square;
              otherwise (window, padding, causal with Sq != Skv) the pairs that the mask leaves.
    GB/s      K and V read once / median (the keys that padding hides are not counted).
    %roof     the least time this machine could take / median, where the least time is the largest of
              flops / peak, one exp a pair / exp rate, bytes of Q, K, V, bias and output / read bandwidth of
              the next smaller buffer measured.  The ceilings come from ceilings.cpp, run just before;
              the peak of fp32 is the better of two measured right before and after the turns of the case.  No kernel
              reaches 100 %: fp32 multiplies and exponentials share the same ports.
    err       largest |output - reference|, reference in float64 on (at most) 96 query rows of every head.
    +MB       how much the resident set grew during the first call: a peer that holds all the scores shows here.
    setup     seconds from the arrays to the end of the first call: sessions, compilation, packing.
    `*` marks the fastest peer of a case among those with a right answer; `!` marks a wrong answer.

Meaning of a case
    scores = scale * Q K^T, scale = 1/sqrt(Dk); with softcap c: scores = c * tanh(scores / c); then the bias or
    mask; softmax over the keys; times V.  Query head h uses key head h // (Hq / Hkv).
    causal    query i sees key j where j <= i + Skv - Sq  (the last query sees every key)
    window    causal, and only the last `window` keys up to and including its own
    padding   batch b sees keys j < lengths[b]; a batch of length 0 gives zeros
    bias      added to the scores, shape [1, Hq, Sq, Skv]
    dtype     fp32, or bf16 or fp16: Q, K, V and output are of 16 bits (bias is fp32 unless the peer insists)
    kind      sdpa as above; linear: feature maps elu + 1, no softmax; additive: scores w' tanh(q + k); layer: four
              projections around self-attention

External programs (--exe "NAME=COMMAND")
    For every case the program is started once as `COMMAND` and spoken to over stdin and stdout, one line each
    way; stderr is passed through.  It inherits the CPU pinning.
      1. peers.py writes one line: a flat JSON object (numbers and strings only), for example
           {"name": "gqa", "kind": "sdpa", "dtype": "fp32", "B": 1, "Hq": 32, "Hkv": 8, "Sq": 1024, "Skv": 1024, "Dk": 128,
            "Dv": 128, "mask": "causal", "window": 0, "softcap": 0.0, "scale": 0.088388, "threads": 1,
            "q": "q.npy", "k": "k.npy", "v": "v.npy", "bias": "", "lengths": "", "w": "", "out": "out.npy"}
         q [B,Hq,Sq,Dk], k [B,Hkv,Skv,Dk], v [B,Hkv,Skv,Dv], bias [1,Hq,Sq,Skv] and lengths [B] are paths of
         C-ordered .npy files: float32 ('<f4'), lengths int32 ('<i4'); for bf16, q, k and v are uint16 ('<u2')
         holding the bf16 bits; for fp16, '<f2'.  w holds the parameters of kinds that have some, '<f4', one after
         the other.  "" means: this case has none.  mask is one of none, causal, window, padding, bias.
         The program loads them, packs or copies as it likes, and answers
           ready                or      unsupported WHY       (then it exits)
      2. `run N`   it calls its kernel N times and answers N times in nanoseconds on one line: 812345 809911
      3. `write`   it writes the output of the last call, float32 [B,Hq,Sq,Dv], to `out`, and answers: ok
      4. `quit`    or end of input: it exits.
    A program that exits or answers anything else is reported as failed; the run goes on.

Another grid (--cases FILE) is a JSON list of objects with the fields of a case; those left out take the defaults
    dtype "fp32", kind "sdpa", B 1, Hkv = Hq, Skv = Sq, Dv = Dk, mask "none", window 0, lengths [], softcap 0, skip [].
`skip` names peers to leave out of a case: FlexAttention compiles some 7 s a case until its cache on disk is warm.
"""
import argparse
import gc
import importlib.metadata
import json
import math
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import fields

import numpy as np

import report
import settings
from cases import Case, Refuses, default_cases
from libraries import NEEDS, PEERS
from programs import Program

HERE = os.path.dirname(os.path.abspath(__file__))


def memory(pid, key):
    with open(f"/proc/{pid}/status") as f:
        return next((int(line.split()[1]) / 1024 for line in f if line.startswith(key)), 0.0)


def forget_peak(pid):
    try:
        with open(f"/proc/{pid}/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass


class Runner:
    """One peer prepared for one case."""

    def __init__(self, name, prepare, c):
        self.name, self.program, self.turns = name, None, []
        c.note = ""
        begin = time.perf_counter()
        prepared = prepare(c)
        if isinstance(prepared, Program):
            self.program, pid = prepared, prepared.process.pid
            self.seconds, self.result = prepared.times, prepared.result
        else:
            pid, (call, self.result) = os.getpid(), prepared
            self.call = call
            self.seconds = self.time_calls
        before = memory(pid, "VmRSS")
        forget_peak(pid)
        self.seconds(1)
        self.extra_mb = max(0.0, memory(pid, "VmHWM") - before)
        self.setup = time.perf_counter() - begin
        self.note = c.note
        one = self.seconds(1)[0]
        if one < 0.1:
            one = min(one, self.seconds(1)[0])
        self.repeat = max(1, math.ceil(2e-3 / max(one, 1e-7)))
        self.warm_up = 3 if one < 20e-3 else 0
        self.cost = one * (self.repeat + self.warm_up)

    def time_calls(self, n):
        call, clock, out = self.call, time.perf_counter, []
        for _ in range(n):
            begin = clock()
            self.last = call()
            out.append(clock() - begin)
        return out

    def turn(self):
        if self.warm_up:
            self.seconds(self.warm_up)
        self.turns.append(statistics.fmean(self.seconds(self.repeat)))

    def error(self, rows, expected):
        y = self.result(getattr(self, "last", None))
        if y.shape[:2] + y.shape[3:] != expected.shape[:2] + expected.shape[3:]:
            return math.inf
        difference = np.abs(y[:, :, rows].astype(np.float64) - expected).max()
        return float(difference) if np.isfinite(difference) else math.nan

    def close(self):
        if self.program:
            self.program.close()


def measure(c, peers, ceilings, budget):
    """Every peer on one case; a list of result dictionaries."""
    c.make_inputs()
    rows, expected = c.reference()
    tolerance = {"fp32": 2e-4, "bf16": 3e-2, "fp16": 4e-3}[c.dtype] * max(1.0, float(np.abs(expected).max()))
    runners, results = [], []
    for name, prepare in peers.items():
        if name in c.skip:
            continue
        try:
            runners.append(Runner(name, prepare, c))
        except Refuses as why:
            results.append(dict(case=c.name, peer=name, refused=str(why)))
        except Exception as why:  # a peer that breaks is a finding, not the end of the run
            text = re.sub(r"\s+", " ", f"{type(why).__name__}: {why}")[:300]
            results.append(dict(case=c.name, peer=name, failed=text))
    for r in runners:
        try:
            r.err = r.error(rows, expected)
        except Exception as why:
            r.err, r.note = math.nan, f"{type(why).__name__}: {why}"
    turns = max(3, min(25, int(budget / max(1e-9, sum(r.cost for r in runners)))))
    peak = measure_peak()
    for _ in range(turns):
        for r in runners:
            if settings.threads > 1:
                time.sleep(0.01)  # let the thread pool of the peer before stop spinning
            r.turn()
    peak = max(peak, measure_peak())
    least = c.least_seconds(ceilings | dict(fp32_gflops=peak))
    for r in runners:
        median = statistics.median(r.turns)
        results.append(dict(case=c.name, phase=c.phase, intensity=c.flops() / c.bytes(), peer=r.name, ms=median * 1e3,
                            min_ms=min(r.turns) * 1e3, gflops=c.flops() / median * 1e-9,
                            gbs=c.kv_bytes() / median * 1e-9, roof=100 * least / median, err=r.err, right=bool(r.err <= tolerance),
                            extra_mb=r.extra_mb, setup_s=r.setup, turns=turns, fma_peak_gflops=peak, note=r.note))
        r.close()
    right = [r for r in results if r.get("right")]
    if right:
        min(right, key=lambda r: r["ms"])["best"] = True
    for name in ("q", "k", "v", "bias", "w"):
        delattr(c, name)
    gc.collect()
    return results


def show(c, results):
    mask = c.mask + (str(c.window) if c.window else "") + (f" softcap {c.softcap:g}" if c.softcap else "")
    print(f"\n{c.name}   {c.kind} {c.dtype} B{c.B} H{c.Hq}/{c.Hkv} Sq{c.Sq} Skv{c.Skv} Dk{c.Dk} Dv{c.Dv} {mask}", flush=True)
    for r in sorted(results, key=lambda r: r.get("ms", math.inf)):
        if "ms" not in r:
            print(f"    {r['peer']:14} {'refuses: ' + r['refused'] if 'refused' in r else 'FAILED: ' + r['failed']}")
            continue
        sign = "*" if r.get("best") else " " if r["right"] else "!"
        print(f"  {sign} {r['peer']:14} {r['ms']:10.3f} ms  min {r['min_ms']:10.3f}  {r['gflops']:8.1f} GFLOP/s {r['gbs']:7.1f} GB/s "
              f"{r['roof']:6.1f} %roof  err {r['err']:.1e}  +{r['extra_mb']:.0f} MB  setup {r['setup_s']:.2f} s  {r['note']}", flush=True)


def ceilings_program():
    source, program = os.path.join(HERE, "ceilings.cpp"), os.path.join(tempfile.gettempdir(), f"qkv-ceilings-{os.getuid()}")
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", "-pthread", source, "-o", program], check=True)
    return program


def measure_peak():
    """The multiply-add peak of this moment: on a shared machine it drifts within minutes."""
    return float(subprocess.run([ceilings_program(), str(settings.threads), "fp32"], check=True, capture_output=True, text=True).stdout)


def measure_ceilings(threads):
    runs = [json.loads(subprocess.run([ceilings_program(), str(threads)], check=True, capture_output=True, text=True).stdout) for _ in range(2)]
    best = {k: max(r[k] for r in runs) for k in runs[0] if k != "read_gbs"}
    best["read_gbs"] = {k: max(r["read_gbs"][k] for r in runs) for k in runs[0]["read_gbs"]}
    best["bf16_gflops"] = max(best["bf16_gflops"], best["fp32_gflops"])
    return best


def machine():
    with open("/proc/cpuinfo") as f:
        text = f.read()
    name = re.search(r"model name\s*: (.*)", text)
    ident = "/".join(re.search(rf"^{key}\s*: (\d+)", text, re.M).group(1) for key in ("cpu family", "model", "stepping"))
    flags = set(re.search(r"^flags\s*: (.*)", text, re.M).group(1).split())
    wanted = [f for f in ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "avx_vnni") if f in flags]
    return dict(cpu=name.group(1) if name else platform.processor(), family_model_stepping=ident, features=wanted,
                cpus=os.cpu_count(), kernel=platform.release(), python=platform.python_version())


def installed(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def install_mb(names):
    """Installed size of these distributions and of all they require that is installed."""
    seen, todo, total = set(), list(names), 0
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            dist = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        total += sum(os.path.getsize(p) for p in map(dist.locate_file, dist.files or []) if os.path.isfile(p))
        todo += [re.match(r"[\w.-]+", r).group(0) for r in dist.requires or [] if "extra ==" not in r]
    return total / 2**20


def costs(names):
    """Prints the cost of each peer before its first useful result: a fresh process and empty caches each."""
    print(f"{'peer':14} {'import s':>9} {'first call s':>13} {'install MB':>11}   (first call: import included; fp32 H8 S512 D64 causal)")
    rows = {}
    for name in names:
        module = NEEDS[name][0]
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        times = [float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) for _ in range(3)]
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            env = os.environ | {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor"), "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
            subprocess.run([sys.executable, __file__, "--peers", name, "--match", "^d64-s512-causal$", "--budget", "0", "--threads", str(settings.threads),
                            "--json", out], check=True, env=env, stdout=subprocess.DEVNULL)
            with open(out) as f:
                result = json.load(f)["results"][0]
        rows[name] = dict(import_first_s=times[0], import_s=min(times), first_call_s=result.get("setup_s"), install_mb=install_mb(NEEDS[name]))
        print(f"{name:14} {min(times):9.2f} {rows[name]['first_call_s'] or math.nan:13.2f} {rows[name]['install_mb']:11.0f}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cases", help="a JSON file with another grid")
    parser.add_argument("--match", help="only cases whose name contains this regular expression")
    parser.add_argument("--peers", help="only these, separated by commas")
    parser.add_argument("--exe", action="append", default=[], metavar="NAME=PATH", help="an external program as one more peer")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of turns for a case (3 turns at least)")
    parser.add_argument("--json", help="write everything to this file")
    parser.add_argument("--compare", metavar="OLD.json", help="compares the programs given by --exe with those of an earlier run")
    parser.add_argument("--roofline", metavar="FILE.svg", help="draws each case: its arithmetic intensity and speed under the roof")
    parser.add_argument("--costs", action="store_true", help="measure import, first call and size instead of speed")
    args = parser.parse_args()

    earlier = None
    if args.compare:  # before --json writes, perhaps to the same file
        with open(args.compare) as f:
            earlier = json.load(f)["results"]
    settings.threads = args.threads
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < settings.threads:
        sys.exit(f"--threads {settings.threads}, but only {len(cpus)} CPUs are allowed")
    os.sched_setaffinity(0, cpus[-settings.threads:])
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(settings.threads)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if settings.threads == 1:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"

    wanted = args.peers.split(",") if args.peers is not None else list(PEERS)
    peers = {n: PEERS[n] for n in PEERS if n in wanted and all(installed(m) for m in NEEDS[n])}
    versions = {m: installed(m) for m in sorted({m for ms in NEEDS.values() for m in ms} | {"jaxlib", "numpy"})}
    if args.costs:
        rows = costs(peers)
        if args.json:
            with open(args.json, "w") as f:
                json.dump(dict(machine=machine(), versions=versions, costs=rows), f, indent=1)
        return
    if args.cases:
        with open(args.cases) as f:
            cases = [Case(**entry) for entry in json.load(f)]
    else:
        cases = default_cases()
    cases = [c for c in cases if not args.match or re.search(args.match, c.name)]

    begin = time.perf_counter()
    ceilings = measure_ceilings(settings.threads)
    print(json.dumps(machine()))
    print(json.dumps(versions))
    print("ceilings " + json.dumps(ceilings), flush=True)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for entry in args.exe:
            name, command = entry.split("=", 1)
            peers[name] = lambda c, command=shlex.split(command): Program(command, c, folder)
        for c in cases:
            rows = measure(c, peers, ceilings, args.budget)
            show(c, rows)
            results += rows
    print(f"\n{len(cases)} cases in {time.perf_counter() - begin:.0f} s")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(dict(machine=machine(), versions=versions, threads=settings.threads, ceilings=ceilings,
                           cases=[{x.name: getattr(c, x.name) for x in fields(c)} for c in cases], results=results), f, indent=1)
    own = [entry.split("=", 1)[0] for entry in args.exe]
    for name in own:
        print(report.summary(results, name))
    if earlier:
        print(report.comparison(earlier, results, own))
    if args.roofline and own:
        with open(args.roofline, "w") as f:
            f.write(report.roofline(results, ceilings, own))


if __name__ == "__main__":
    main()
