#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles every line of a page of dsl/: the last column of its tables is right, the first column of a table whose
second column says what the compiler says is one error, with those words, on its line.

    page.py COMPILER PAGE         all lines
    page.py COMPILER PAGE LINE    only this one
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "errors"))
import check  # noqa: E402


def rows_of(page):
    """(line, wrong code or None, what the compiler says, right code) of each row."""
    slips = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("|"):
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if set(line) <= set("|- "):
            continue
        if not cells[-1].startswith("`"):
            slips = cells[1:2] == ["the compiler says"]
            continue
        code = [cell.strip("`") for cell in cells]
        yield (number, code[0], code[1], code[2]) if slips else (number, None, None, code[-1])


def function(page, number, code):
    return f'LINE(line_{number}) {{\n#line {number} "{page}"\n(void)({code});\n}}\n'


def compile(compiler, page, source):
    source = '#include "context.hpp"\nnamespace page {\n' + source + "}\n"
    no_limit = "-ferror-limit=0" if check.is_clang(compiler) else "-fmax-errors=0"
    return check.errors_of(check.run(compiler, source, HERE, no_limit)[1], page)


def main():
    compiler, page = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    rows = [row for row in rows_of(page) if len(sys.argv) < 4 or row[0] == int(sys.argv[3])]
    faults = {}
    for line, _, printed in compile(compiler, page, "".join(function(page, row[0], row[3]) for row in rows)):
        faults.setdefault(line, "must compile:\n" + "\n".join(printed))
    wrong = [row for row in rows if row[1]]
    errors = compile(compiler, page, "".join(function(page, row[0], row[1]) for row in wrong)) if wrong else []
    for number, _, says, _ in wrong:
        mine = [error for error in errors if error[0] == number]
        if len(mine) != 1 or '{"' + says not in check.joined(mine[0][1]):
            faults.setdefault(number, f"must be one error that says\n  {says}\n" + "\n".join(error[1] for error in mine))
    for line, _, printed in errors:
        if line not in [row[0] for row in wrong]:
            faults.setdefault(line, "an error outside of the page:\n" + "\n".join(printed))
    for line, fault in faults.items():
        print(f"{page.name}:{line}: {fault}\nagain: python3 {__file__} {compiler} {page} {line or ''}\n")
    print(f"{len(rows)} lines, {len(faults)} failed")
    sys.exit(1 if faults or not rows else 0)


main()
