#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles the wrong specs of one file with one compiler: each must give one error, on its line, with its text.

    check.py COMPILER FILE            all cases in two runs of the compiler, without and with -DWRONG
    check.py COMPILER FILE CASE...    only these cases, as if the file held no others
    check.py COMPILER FILE --alone    each case alone, one after the other

A case begins at "// case name: what is wrong" and ends where the next one begins. It must compile as it stands. With
-DWRONG it must give exactly one error, on the line after "// next line: text", that contains the text once and prints
few lines; "// at most 17 lines" raises the limit of a case, for a step inside another call.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RULES = (HERE.parents[1] / "codegen/cmake/qkv_add_kernels.cmake").read_text()
WARNINGS = sorted(set(re.findall(r"-Werror=[a-z-]+", RULES)))  # those that specs are compiled with
MOST_LINES = {"gcc": 16, "clang": 12}  # some lines of g++ list the headers that include shape_error.hpp


class Case:
    def __init__(self, name, first):
        self.name, self.first, self.last = name, first, first
        self.line = self.text = self.most = None
        self.errors = []  # (line or None for another file, text of the error, all that belongs to it)


def cases_of(lines):
    """The cases of a file, in order."""
    cases = []
    for number, line in enumerate(lines, 1):
        if found := re.match(r"// case (\w+): ", line):
            cases.append(Case(found[1], number))
        if not cases:
            continue
        cases[-1].last = number
        if found := re.search(r"// next line: (.*)$", line):
            cases[-1].line, cases[-1].text = number + 1, found[1]
        if found := re.search(r"// at most (\d+) lines", line):
            cases[-1].most = int(found[1])
    return cases


def without(lines, cases, wanted):
    """The file without the other cases; what remains keeps its line."""
    lines = list(lines)
    for case in cases:
        if case not in wanted:
            lines[case.first - 1 : case.last] = [""] * (case.last - case.first + 1)
    return lines


def run(compiler, source, include, *flags):
    """Exit code and what is printed, when a spec is compiled that finds its own headers in `include`."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{include}",
               f"-I{HERE.parents[1]}/dsl", f"-I{HERE.parents[1]}/runtime", *WARNINGS, *flags, "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def compile(compiler, file, lines, *flags):
    """Exit code and what is printed."""
    source = f'#line 1 "{file}"\n' + "\n".join(lines) + "\n"
    return run(compiler, source, HERE, "-Wno-unused-const-variable", *flags)


def errors_of(printed, file):
    """(line in `file` or None, the error's line, all lines that belong to it) of each error. The lines that
    list includes and instantiations precede the error or the note that they belong to."""
    errors, before = [], []
    for line in printed.splitlines():
        found = re.match(r"(.*?):(\d+):(?:\d+:)? (fatal error|error|warning|note): ", line) or \
            re.match(r"()()(?:.*: )?(fatal error|error): ", line)
        if found and found[3].endswith("error"):
            errors.append((int(found[2]) if found[1] == str(file) else None, line, before + [line]))
            before = []
        elif errors and (found or line.startswith(" ") or re.match(r"\d+ errors? generated", line)):
            errors[-1][2].extend(before + [line])
            before = []
        else:
            before.append(line)
    return errors


def joined(said):
    """The text of an error whose pieces the compiler prints apart."""
    said = re.sub(r'~"\}, (qkv::)?str<\d+>\{"', "", said)
    return re.sub(r'"\}, (qkv::)?str<\d+>\{"', " ", said)


def fault_of(case, is_clang):
    """The fault in the errors of a wrong spec, or None."""
    if len(case.errors) != 1:
        return "compiles, but must not" if not case.errors else f"{len(case.errors)} errors, one expected"
    line, error, printed = case.errors[0]
    if line != case.line:
        return f"the error is on line {line}, not {case.line}"
    # g++ says it in the error itself; so does clang, except where a result is declared otherwise
    # (then in its note).
    said = "\n".join(printed) if is_clang else error
    said = joined(said)
    if '{"' + case.text not in said and not ("-Werror" in error and case.text in error):
        return f"the error does not say\n  {case.text}"
    if not is_clang and said.count('{"' + case.text) > 1:
        return "the error says its text twice"
    most = case.most or MOST_LINES["clang" if is_clang else "gcc"]
    if len(printed) > most:
        return f"{len(printed)} lines printed, at most {most}"
    return None


def faults_of(compiler, file, lines, cases, wanted):
    """The faults of the wanted cases, compiled together: name -> text; "" for one that belongs to none."""
    lines = without(lines, cases, wanted)
    faults = {}

    code, printed = compile(compiler, file, lines)
    if code:
        for line, _, about in errors_of(printed, file):
            name = next((c.name for c in wanted if line and c.first <= line <= c.last), "")
            faults.setdefault(name, "the right twin does not compile:\n" + "\n".join(about))
        faults = faults or {"": printed}
    code, printed = compile(compiler, file, lines, "-DWRONG", "-ferror-limit=0" if is_clang(compiler) else "-fmax-errors=0")
    for error in errors_of(printed, file):
        case = next((c for c in wanted if error[0] and c.first <= error[0] <= c.last), None)
        if case:
            case.errors.append(error)
        else:
            faults.setdefault("", "an error outside of every case:\n" + "\n".join(error[2]))
    for case in wanted:
        # A build stops at the first error (-Wfatal-errors); what it left unused is told after it.
        case.errors = [error for error in case.errors if "-Werror" not in error[1]] or case.errors
        if fault := fault_of(case, is_clang(compiler)):
            faults.setdefault(case.name, "\n".join([fault] + [line for error in case.errors for line in error[2]]))
    return faults


def main():
    compiler, file, names = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    lines = file.read_text().splitlines()
    cases = cases_of(lines)
    alone = names == ["--alone"]
    wanted = [case for case in cases if alone or not names or case.name in names]
    if not wanted or any(case.line is None for case in wanted) or len({case.name for case in cases}) != len(cases):
        sys.exit(f"{file}: no such case, a case without '// next line: text', or two of one name")
    faults = {}
    for together in [[case] for case in wanted] if alone else [wanted]:
        for name, fault in faults_of(compiler, file, lines, cases, together).items():
            faults[name or together[0].name if alone else name] = fault

    for name, fault in faults.items():
        print(f"{name or file.name}: {fault}\nagain: python3 {__file__} {compiler} {file} {name}\n")
    print(f"{len(wanted)} cases, {len(faults)} failed")
    sys.exit(1 if faults else 0)


def is_clang(compiler):
    return "clang" in pathlib.Path(compiler).name


if __name__ == "__main__":
    main()
