#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The wrong lines at the end of an example's spec give the errors that stand below them.

    tries.py COMPILER INCLUDE SPEC

Each line of the block "Try this" replaces the first line of the spec that begins alike (up to the first `=`, `(` or `<`).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

compiler, include, spec = sys.argv[1:]
text = pathlib.Path(spec).read_text()
right, _, block = text.partition("// Try this")
tries = re.findall(r"^//   (\S.*)\n//     (\S.*)$", block, re.M)
if not tries:
    sys.exit(f"{spec} has nothing to try")


def beginning(line):
    return re.match(r"\s*([^=(<]*)", line)[1]


failed = 0
for wrong, message in tries:
    wrong = re.sub(r"\s{2,}\(.*\)$", "", wrong)  # a remark in parentheses
    lines = right.splitlines()
    at = next(k for k, line in enumerate(lines) if line.strip().startswith(beginning(wrong)))
    end = next(k for k in range(at, len(lines)) if lines[k].partition("//")[0].rstrip().endswith(";"))
    lines[at:end + 1] = [wrong]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "try.cpp")
        path.write_text("\n".join(lines) + text[text.rindex("}  // namespace"):])
        run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(path)],
                             capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    joined = re.sub(r'"}, (qkv::)?str<\d+>{"', " ", run.stderr)  # clang cuts long texts
    errors = [line for line in joined.splitlines() if " error: " in line]
    if not errors or message not in errors[0]:
        failed += 1
        print(f"{wrong}\n  does not give\n    {message}\n  but", *errors or ["none"], sep="\n    ")
print(f"{len(tries) - failed} of {len(tries)} wrong lines give the error that the spec announces")
sys.exit(failed > 0)
