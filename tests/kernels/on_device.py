#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares a kernel with the reference on a device, through its tool: on_device.py TOOL DEVICE KERNEL [--size AXIS=N]..."""
import subprocess
import sys

tool, device, kernel, *sizes = sys.argv[1:]
done = subprocess.run([tool, "check", kernel, "--device", device, *sizes], capture_output=True, text=True)
report = done.stdout + done.stderr
print(report, end="")
if f"no {device} driver" in report:
    print(f"[SKIP] no {device} driver on this machine")
    sys.exit(0)
sys.exit(done.returncode)
