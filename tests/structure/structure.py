#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The promises of the layout: who includes whom, how long files are, that every folder says what lives in it.

    structure.py ROOT RULE      RULE is the name of a function below that starts with rule_
"""
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
INCLUDE_ROOTS = ("dsl", "runtime", "codegen/include", "")
CPP = (".hpp", ".cpp", ".h", ".cuh", ".inc")
SOURCES = (".hpp", ".cpp", ".h", ".c", ".cmake", ".py", ".cu")

# Places, and the places whose files they may include. The first place that contains a file counts.
MAY_INCLUDE = {
    "dsl/qkv/core": ["dsl/qkv/core"],
    "dsl/qkv/ops": ["dsl/qkv/core", "dsl/qkv/ops"],
    "dsl": ["dsl"],
    "runtime/qkv": ["dsl", "runtime/qkv"],
    "runtime/process": ["dsl", "runtime/qkv", "runtime/process"],
    "runtime/status": ["dsl", "runtime/qkv", "runtime/status"],
    "runtime/memory": ["dsl", "runtime/qkv", "runtime/process", "runtime/memory"],
    "runtime/files": ["dsl", "runtime/qkv", "runtime/status", "runtime/memory", "runtime/files"],
    "runtime/compiled": ["dsl", "runtime/qkv", "runtime/process", "runtime/compiled"],
    "runtime/devices": ["dsl", "runtime/qkv", "runtime/process", "runtime/status", "runtime/memory",
                        "runtime/compiled", "runtime/devices"],
    "runtime/call": ["dsl", "runtime/qkv", "runtime/process", "runtime/status", "runtime/memory",
                     "runtime/compiled", "runtime/devices", "runtime/call"],
    "runtime/cache": ["dsl", "runtime/qkv", "runtime/status", "runtime/memory", "runtime/cache"],
    "runtime/serve": ["dsl", "runtime/qkv", "runtime/files", "runtime/call", "runtime/serve"],
    "runtime/ring": ["dsl", "runtime/qkv", "runtime/status", "runtime/memory", "runtime/process", "runtime/call", "runtime/ring"],
    "runtime": ["dsl", "runtime"],
    "codegen/program": ["dsl", "codegen/program"],
    "codegen/process": ["codegen/process"],
    "codegen/reference": ["dsl", "runtime", "codegen/program", "codegen/reference"],
    "codegen/gradient": ["dsl", "codegen/program", "codegen/rewrites", "codegen/gradient"],
    "codegen/ring": ["dsl", "codegen/program", "codegen/rewrites", "codegen/ring"],
    "codegen/rewrites": ["dsl", "codegen/program", "codegen/rewrites"],
    "codegen/plan/on_machine": ["dsl", "codegen/program", "codegen/plan", "codegen/machines"],
    "codegen/plan": ["dsl", "codegen/program", "codegen/rewrites", "codegen/plan"],
    "codegen/machines": ["dsl", "codegen/program", "codegen/machines"],
    "codegen/cuda": ["dsl", "codegen/program", "codegen/plan", "codegen/machines", "codegen/halide/lower",
                     "codegen/halide/schedules", "codegen/process", "codegen/cuda"],
    "codegen/plain": ["dsl", "codegen/program", "codegen/plan", "codegen/halide/lower", "codegen/process",
                      "codegen/plain"],
    "codegen/halide/lower": ["dsl", "codegen/program", "codegen/plan", "codegen/machines", "codegen/halide"],
    "codegen/halide/schedules": ["dsl", "codegen/program", "codegen/plan", "codegen/machines", "codegen/halide"],
    "codegen/emit": ["dsl", "codegen/program", "codegen/rewrites", "codegen/plan", "codegen/sheets",
                     "codegen/machines", "codegen/cuda", "codegen/plain", "codegen/halide", "codegen/process",
                     "codegen/emit", "codegen/include", "runtime/qkv/kernel.h"],
    "codegen/sheets": ["dsl", "codegen/process", "codegen/program", "codegen/rewrites", "codegen/plan", "codegen/reference",
                       "codegen/machines/panel_widths.hpp", "codegen/sheets", "runtime/qkv/tool.hpp"],
    "codegen": ["dsl", "codegen"],
    "examples": ["dsl", "runtime/qkv", "codegen/include", "codegen/sheets/attention_map.hpp", "examples"],
    "tests": ["dsl", "runtime", "codegen", "tests", "examples"],
}
# Only these may know Halide's compiler.
KNOWS_HALIDE = ["codegen/halide", "codegen/cuda", "codegen/plain", "codegen/machines", "codegen/emit", "tests/codegen", "tests/fuzz"]


def tracked(*suffixes):
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
    return [f for f in listing.splitlines() if f.endswith(suffixes) and (ROOT / f).exists()]


def within(file, place):
    return file == place or file.startswith(place + "/")


def includes(file):
    """(line number, text between the quotes or brackets) of every include."""
    for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
        if found:
            yield number, found[1]


def resolve(file, text):
    """The file of this project that an include means, or None."""
    candidates = [(ROOT / file).parent / text] + [ROOT / root / text for root in INCLUDE_ROOTS]
    for candidate in candidates:
        if candidate.is_file() and ROOT in candidate.resolve().parents:
            return str(candidate.resolve().relative_to(ROOT))
    return None


def rule_include_graph():
    """Data flows dsl -> codegen -> generated -> runtime, and no file includes backwards."""
    for file in tracked(".hpp", ".cpp", ".h"):
        place = next((p for p in MAY_INCLUDE if within(file, p)), None)
        for number, text in includes(file):
            target = resolve(file, text)
            if target and place and not any(within(target, p) for p in MAY_INCLUDE[place]):
                yield f"{file}:{number}: {place} must not include {target}"
            if text == "Halide.h" and not any(within(file, p) for p in KNOWS_HALIDE):
                yield f"{file}:{number}: only {', '.join(KNOWS_HALIDE)} know Halide"
            if not target and text.startswith(("qkv/", "codegen/")):
                yield f"{file}:{number}: there is no {text}"


def circles(graph):
    """The circles of a graph {node: [node]}, each found once."""
    done = set()

    def visit(node, path):
        if node in path:
            yield " -> ".join([*path[path.index(node):], node])
        elif node not in done:
            for target in sorted(graph.get(node, [])):
                yield from visit(target, [*path, node])
            done.add(node)

    for node in sorted(graph):
        yield from visit(node, [])


def included(group):
    """Which groups of files include which others; group(file) names the group, or is None."""
    graph = {}
    for file in tracked(".hpp", ".h", ".cpp"):
        if (source := group(file)) is None:
            continue
        targets = graph.setdefault(source, set())
        for _, text in includes(file):
            found = resolve(file, text)
            if found and (target := group(found)) not in (None, source):
                targets.add(target)
    return graph


def rule_no_circles_of_units():
    """No unit (a header with the source of its name) includes itself through others."""
    yield from circles(included(lambda file: str(pathlib.PurePath(file).with_suffix(""))))


def rule_no_circles_of_rooms():
    """No folder of dsl, codegen and runtime includes itself through others, alone or with all that lies in it."""
    def room(file):
        folder = str(pathlib.PurePath(file).parent)
        return folder if folder.startswith(("dsl/", "codegen/", "runtime/")) else None

    def whole_room(file):
        return "/".join(file.split("/")[:2]) if room(file) else None

    yield from circles(included(room))
    yield from circles(included(whole_room))


def rule_lengths():
    """No file over 500 lines (tests 1,000); the median of those that are not tests at most 150."""
    lengths = {f: len((ROOT / f).read_text().splitlines()) for f in [*tracked(*SOURCES), "run"]
               if not within(f, "generated")}
    for file, lines in lengths.items():
        if lines > (1000 if within(file, "tests") else 500):
            yield f"{file}: {lines} lines: two subjects in one file?"
    median = statistics.median(lines for f, lines in lengths.items() if not within(f, "tests"))
    if median > 150:
        yield f"the median file has {median:.0f} lines"


def functions(file):
    """(first line, number of lines) of every function that is defined in a file."""
    lines = [re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0])
             for line in (ROOT / file).read_text().splitlines()]
    opened = []
    for number, line in enumerate(lines):
        for at, letter in enumerate(line):
            if letter == "{":
                head, first = line[:at], number
                while first > 0 and lines[first - 1].strip() and not re.search(r"[;{}:]\s*$", lines[first - 1]):
                    first -= 1
                    head = lines[first] + " " + head
                control = re.match(r"\s*(if|for|while|switch|else|do|namespace|class|struct|return|try)\b", head)
                is_lambda = "[" in head.split("(")[0]
                ends = re.search(r"\)\s*(const)?\s*(noexcept)?\s*(->\s*[\w:<>]+)?\s*(:\s*.*)?$", head)
                opened.append((number, bool(ends) and not control and not is_lambda))
            elif letter == "}" and opened:
                begin, is_function = opened.pop()
                if is_function:
                    yield begin + 1, number - begin + 1


def rule_short_functions():
    """No function of the language, the code generator or the runtime over 60 lines; skeletons of CUDA are left out."""
    for file in tracked(".hpp", ".cpp"):
        if within(file, "dsl") or within(file, "codegen") or within(file, "runtime"):
            for line, length in functions(file):
                if length > 60:
                    yield f"{file}:{line}: a function of {length} lines: split it by subject"


def rule_readmes():
    """Every folder with sources says on at most a page what lives there."""
    # An include folder has its parent speak for it.
    folders = {str(pathlib.PurePath(f).parent) for f in tracked(*SOURCES, "CMakeLists.txt")
               if not within(f, "generated")}
    for folder in sorted({re.sub(r"(/include)?/qkv$", "", f) for f in folders}):
        readme = ROOT / folder / "README.md"
        if not readme.exists():
            yield f"{folder}: no README.md"
        elif len(readme.read_text().splitlines()) > 100:
            yield f"{folder}/README.md: more than a page"


def rule_no_shells():
    """No path reaches a shell: programs are started with a list of arguments, not with a command line."""
    shell = re.compile(r"std::system|[^\w.:]system\(|popen\(|os\.system|shell=True")
    for file in tracked(".hpp", ".cpp", ".h", ".c", ".py"):
        if within(file, "tests/structure"):
            continue
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if shell.search(line):
                yield f"{file}:{number}: {line.strip()}"
    for file in tracked(".cmake", "CMakeLists.txt"):
        text = re.sub(r"#.*", "", (ROOT / file).read_text())
        for call in re.findall(r"add_custom_(?:command|target)\([^)]*\)", text):
            if "COMMAND" in call and "VERBATIM" not in call:
                yield f"{file}: a command without VERBATIM: {call.splitlines()[0]}"


def rule_kernel_names():
    """Each qkv_<name> that qkv/kernel.h declares is refused as the name of a kernel."""
    declared = set(re.findall(r"\bqkv_(\w+)", (ROOT / "runtime/qkv/kernel.h").read_text()))
    array = re.search(r"names_of_runtime\[\] = \{(.*?)\};", (ROOT / "dsl/qkv/core/names.hpp").read_text(), re.S)[1]
    refused = set(re.findall(r'"(\w+)"', array))
    for name in sorted(declared ^ refused):
        yield f"dsl/qkv/core/names.hpp: qkv_{name} is " + ("not refused" if name in declared else "not declared")


def rule_statuses():
    """Each status is in status.hpp, status.cpp, the C header and the table of runtime/README.md, and has a test."""
    enum = re.search(r"enum class status_code : int \{(.*?)\};", (ROOT / "runtime/qkv/status.hpp").read_text(), re.S)[1]
    statuses = re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", enum), re.M)
    in_c = re.search(r"\{\s*QKV_OK = 0,(.*?)\}", (ROOT / "runtime/qkv/kernel.h").read_text(), re.S)[1]
    table = (ROOT / "runtime/README.md").read_text().split("| status | when |")[1].split("\n\n")[0]
    for where, listed in {
        "runtime/qkv/kernel.h": ["ok", *(name.lower() for name in re.findall(r"QKV_(\w+)", in_c))],
        "runtime/README.md": re.findall(r"^\| `(\w+)` \|", table, re.M),
        "runtime/status/status.cpp": re.findall(r"case status_code::(\w+):",
                                                (ROOT / "runtime/status/status.cpp").read_text()),
    }.items():
        if listed != statuses:
            yield f"{where}: lists {' '.join(listed)}; status.hpp: {' '.join(statuses)}"
    tests = "".join((ROOT / f).read_text() for f in tracked("_test.cpp") if within(f, "tests/runtime"))
    for name in statuses:
        if name != "ok" and not re.search(rf"status_code::{name}\b", tests):
            yield f"tests/runtime: nothing provokes {name}"


def rule_editor():
    """.clangd has the warnings that specs are compiled with."""
    warnings = [set(re.findall(r"-Werror=[a-z-]+", (ROOT / file).read_text()))
                for file in (".clangd", "codegen/cmake/qkv_add_kernels.cmake")]
    for flag in sorted(warnings[0] ^ warnings[1]):
        yield f".clangd: {flag} is " + ("not given" if flag in warnings[1] else "not what specs are compiled with")


def comments(file):
    """The comments of a C++ file as (line number of its first line, lines); one after code is a comment of its own."""
    runs, alone = [], False
    for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
        found = re.match(r'((?:[^"/]|"(?:\\.|[^"\\])*"|/(?!/))*)//+(.*)', line)
        if not found or "SPDX-License-Identifier" in line:
            alone = False
            continue
        if alone and not found[1].strip():
            runs[-1][1].append(found[2])
        else:
            runs.append((number, [found[2]]))
        alone = not found[1].strip()
    return runs


def rule_english():
    """Comments are sentences with the words of the field: no "What .." first, no "is no tensor", no private words."""
    wrong = {
        r"\bis no (?!longer\b|more\b|less\b|larger\b|smaller\b|wider\b)\w": "is no .. (write: is not a ..)",
        r"\bbatch mates?\b": "batch mates (write: other batch entries)",
        r"\bwords? of C\b": "words of C (write: C keywords)",
        r"\bwalked\b(?!\()": "walked (write: visited, iterated over)",
        r"\bdealt\b": "dealt (write: distributed, scheduled)",
    }
    for file in tracked(*CPP):
        place = file.split("/")[0]
        if place not in ("dsl", "codegen", "runtime", "tests", "examples"):
            continue
        if re.search(r"^// .*: written by \w+\.py", (ROOT / file).read_text(), re.M):
            continue
        for number, lines in comments(file):
            if re.match(r"\s*(What|Whether)\b", lines[0]):
                yield f"{file}:{number}: begins with {lines[0].split()[0]}: name the thing"
            # Quoted messages and names in backticks are not prose. A phrase may be broken over two lines.
            prose = [re.sub(r'"[^"]*"|`[^`]*`', lambda text: "_" * len(text[0]), line) for line in lines]
            text = " ".join(line.strip() for line in prose)
            for pattern, message in wrong.items():
                for found in re.finditer(pattern, text):
                    if found[0].startswith("is no ") and text[:found.start()].lower().endswith("there "):
                        continue
                    ends, at = 0, 0
                    while (ends := ends + len(prose[at].strip()) + 1) <= found.start():
                        at += 1
                    yield f"{file}:{number + at}: {message}"
    for file in tracked(".py", ".cmake", ".machine", "CMakeLists.txt"):
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if found := re.match(r'\s*(?:#|""")\s*(What|Whether)\b', line):
                yield f"{file}:{number}: begins with {found[1]}: name the thing"


def statements(text, at):
    """Splits a body, which begins at `at`, into its statements; bodies of functions and classes are left out."""
    depth, statement = 1, ""
    while depth > 0:
        c = text[at]
        at += 1
        depth += (c == "{") - (c == "}")
        if depth == 1 and (c == ";" or (c == "}" and not re.match(r"\s*[;,]", text[at:]))):
            yield statement.strip()
            statement = ""
        elif depth == 1 and c != "}":
            statement += c


def rule_members():
    """A struct has at most 15 public members: more of them are groups."""
    no_member = ("public", "private", "protected", "using", "friend", "static", "struct", "class", "enum", "template")
    for file in tracked(".hpp", ".cpp"):
        if file.split("/")[0] not in ("dsl", "codegen", "runtime"):
            continue
        text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', "", (ROOT / file).read_text())
        for found in re.finditer(r"\bstruct (\w+)[^;{()]*\{", text):
            members = 0
            for s in statements(text, found.end()):
                while "<" in s and s != (shorter := re.sub(r"<[^<>]*>", "", s)):
                    s = shorter
                if s and not s.startswith(no_member) and "(" not in s.split("=")[0]:
                    members += s.count(",") + 1
            if members > 15:
                yield f"{file}: {found[1]} has {members} members"


# Tables of data, code that the generator writes, and cases that quote whole lines of compilers.
WIDE = ("generated/", "examples/minilm/unicode/table.hpp", "tests/examples/wordpiece_cases.hpp", "tests/errors/",
        "tests/cuda/matrix_test.cpp")


def rule_width():
    """Lines of C++ have at most 100 columns, and so have comments on machines."""
    for file in tracked(*CPP, ".machine"):
        if file.startswith(WIDE):
            continue
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if len(line) > 100 and (line.startswith("#") or not file.endswith(".machine")):
                yield f"{file}:{number}: {len(line)} columns"


def rule_tested():
    """Each header of the language has a test of its name, or a row of its test folder's README names it."""
    for headers, tests in (("dsl/qkv/ops", "tests/ops"), ("dsl/qkv/attention", "tests/zoo")):
        rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", (ROOT / tests / "README.md").read_text(), re.M)
        for file, _ in rows:
            if not (ROOT / tests / file).exists():
                yield f"{tests}/README.md: there is no {file}"
        named = {name for _, names in rows for name in re.findall(r"`(\w+)`", names)}
        for header in sorted((ROOT / headers).glob("*.hpp")):
            if header.stem not in named and not (ROOT / tests / f"{header.stem}_test.cpp").exists():
                yield f"{headers}/{header.name}: neither {tests}/{header.stem}_test.cpp nor a row of {tests}/README.md"


def rule_tests_named():
    """Each test has the name of a source file, or its folder's README names it; and READMEs name no other tests."""
    sources = {pathlib.PurePath(f).stem for f in tracked(*CPP) if not within(f, "tests")}
    tests = {pathlib.PurePath(f) for f in tracked("_test.cpp")}
    named = {folder: set(re.findall(r"`(\w+_test)(?:\.cpp)?`", (ROOT / folder / "README.md").read_text()))
             for folder in {test.parent for test in tests}}
    for test in sorted(tests):
        if test.stem.removesuffix("_test") not in sources and test.stem not in named[test.parent]:
            yield f"{test}: neither a source file of its name nor a word of it in {test.parent}/README.md"
    for folder in sorted(named):
        for stem in sorted(named[folder] - {test.stem for test in tests}):
            yield f"{folder}/README.md: there is no {stem}"


def rule_messages():
    """Messages to users have a verb of the field: no "is no tensor", nothing "stands", "asks" or "says"."""
    wrong = re.compile(r"(?<!there )\bis no (?!longer\b|more\b|less\b|larger\b|smaller\b)\w|\b(?:stands?|asks|says|said|tells?|told)\b|side by side")
    for file in tracked(".hpp", ".cpp", ".h"):
        if file.split("/")[0] not in ("dsl", "codegen", "runtime"):
            continue
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if line.lstrip().startswith(("//", "#include")):
                continue
            for text in re.findall(r'"((?:\\.|[^"\\])*)"', line):
                if found := wrong.search(text):
                    yield f"{file}:{number}: a message says \"{found[0]}\""


def rule_headers_begin():
    """#pragma once (the C header: a guard), then a comment on what the header is for; no macros."""
    for file in tracked(".hpp"):
        lines = (ROOT / file).read_text().splitlines()
        if lines[0].startswith("// SPDX"):
            lines = lines[1:]
        if lines[0] != "#pragma once":
            yield f"{file}: does not begin with #pragma once"
        if len(lines) < 2 or not lines[1].startswith("//"):
            yield f"{file}: no comment on what it is for"
        if within(file, "dsl") or "/qkv/" in file:
            for number, line in enumerate(lines, 1):
                if re.match(r"\s*#\s*define", line):
                    yield f"{file}:{number}: a macro in a public header"


def rule_licences():
    """Every source file that ships names its licence in its first two lines."""
    for file in tracked(*SOURCES, ".cuh", ".inc", ".cmake", ".machine", "CMakeLists.txt", ".py"):
        if any(within(file, folder) for folder in ("dsl", "codegen", "runtime", "examples", "tests")):
            if "SPDX-License-Identifier: BSL-1.0" not in "".join((ROOT / file).read_text().splitlines()[:2]):
                yield f"{file}: no SPDX line"


def main():
    rule = globals()["rule_" + sys.argv[2]]
    problems = list(rule())
    print(rule.__doc__)
    for problem in problems:
        print("  " + problem)
    sys.exit(bool(problems))


main()
