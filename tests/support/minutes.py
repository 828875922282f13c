#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Where the time of a step of ./run test went: the largest shares of the seconds that its jobs took together.

    minutes.py build FOLDER SINCE    by folder, from ninja's log; SINCE: when the step began, in seconds since 1970
    minutes.py tests FOLDER          by folder of tests, from ctest.xml
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree


def build(folder, since):
    jobs = {}  # one job may write several files
    for line in (folder / ".ninja_log").read_text().splitlines()[1:]:
        start, end, modified, output, command = line.split("\t")
        if int(modified) >= since * 1e9:
            jobs[start, end, command] = output
    for (start, end, _), output in jobs.items():
        parts = pathlib.PurePath(output.removeprefix(f"{folder}/")).parts
        place = "/".join(parts[:2] if parts[0] == "tests" else parts[:1])
        kernel = any(part.endswith("_qkv") for part in parts) and not output.endswith(".o")
        yield ("kernels of " if kernel else "") + place, (int(end) - int(start)) / 1e3


def tests(folder):
    for case in xml.etree.ElementTree.parse(folder / "ctest.xml").iter("testcase"):
        yield case.get("name").split(":")[0], float(case.get("time"))


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shares = collections.Counter()
    for place, seconds in build(folder, int(sys.argv[3])) if kind == "build" else tests(folder):
        shares[place] += seconds
    total = sum(shares.values())
    print(", ".join(f"{place} {100 * seconds / total:.0f} %" for place, seconds in shares.most_common(5) if seconds > 0))


main()
