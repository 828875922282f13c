#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Leaves out the barriers of a CUDA kernel, one more at a time, and keeps each that is missed: the emulator notices a
race, or the trials a wrong result. Those left out in the end are redundant, because the kernel is right without them.
Usage: missing_barriers.py GPU_TEST KERNEL LEAST, with the emulator in LD_LIBRARY_PATH; LEAST: how many must be missed."""
import os
import subprocess
import sys


def run(program, kernel, without):
    environment = dict(os.environ, QKV_KERNEL=kernel, QKV_CUDA_MUST_RUN="1", PTX_SEED="0",
                       PTX_WITHOUT_BARRIERS=",".join(map(str, without)))
    done = subprocess.run([program, "kernels agree with the interpreter on CUDA*", "--abort"], env=environment,
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr.count("is left out"), done.stdout + done.stderr


def main():
    program, kernel, least = sys.argv[1:]
    fine, _, words = run(program, kernel, [])
    if not fine:
        print(f"{kernel}, with all barriers:\n{words}")
        return 1
    number, redundant, missed = 0, [], []
    while True:
        fine, left_out, _ = run(program, kernel, redundant + [number])
        if fine and left_out == len(redundant):
            break  # there is no such barrier
        (redundant if fine else missed).append(number)
        number += 1
    print(f"{kernel}: {len(missed)} of {number} barriers are missed: {missed}")
    return 0 if len(missed) >= int(least) else 1


if __name__ == "__main__":
    sys.exit(main())
