#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every line that a command prints is an object of JSON that names its kernel.

    json_lines.py COMMAND...
"""
import json
import subprocess
import sys

printed = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout.splitlines()
if not printed:
    sys.exit("nothing is printed")
for line in printed:
    if not json.loads(line).get("kernel"):
        sys.exit(f"no kernel in {line}")
