#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The README taken at its word: its three files are built and run against an installation; its slip must give the error
that it prints.

    quick_start.py README BUILD WORK CMAKE    BUILD: qkv's build; WORK: a folder to make anew
"""
import pathlib
import re
import shutil
import subprocess
import sys

README, BUILD, WORK = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
CMAKE = sys.argv[4]

def block(language, contains):
    """The fenced block of that language that holds this text."""
    for found_language, text in re.findall(r"^```(\w*)\n(.*?)^```", README.read_text(), re.S | re.M):
        if found_language == language and contains in text:
            return text
    sys.exit(f"the README has no {language} block with {contains}")


def step(what, *command, fails=False):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"{what} {'succeeded' if fails else 'failed'}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def words(text):
    """Without layout, quotes and what the compiler writes around a text: qkv::str<62>{"..."}."""
    return re.sub(r"[\s‘’'`]+", "", re.sub(r'qkv::str<\d+>\{("[^"]*")\}', r"\1", text))


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    spec, program = block("cpp", "#include <qkv/dsl.hpp>"), block("cpp", "int main()")
    (WORK / "attention.hpp").write_text(spec)
    (WORK / "main.cpp").write_text(program)
    (WORK / "CMakeLists.txt").write_text(block("cmake", "qkv_add_kernels"))
    step("the installation", CMAKE, "--install", BUILD, "--prefix", WORK / "prefix")
    step("configuring", CMAKE, "-S", WORK, "-B", WORK / "build", "-G", "Ninja",
         f"-DCMAKE_PREFIX_PATH={WORK / 'prefix'}")
    step("building", CMAKE, "--build", WORK / "build", "--target", "app")
    said, promise = step("the program", WORK / "build" / "app"), re.search(r"printf.*// (.*)", program)[1]
    if said.strip() != promise:
        sys.exit(f"the README promises {promise}, but its program says {said}")

    promised = block("", "error: ")
    wrong_line = re.search(r"^ +\d+ \|(.*)$", promised, re.M)[1].strip()
    right_line = wrong_line.replace("softmax<seq>", "softmax<kv>")
    if right_line not in spec:
        sys.exit(f"the spec of the README has no line {right_line}")
    (WORK / "attention.hpp").write_text(spec.replace(right_line, wrong_line))
    text = step("building a wrong spec", CMAKE, "--build", WORK / "build", "--target", "app", fails=True)
    if len(re.findall(r" error: ", text)) != 1:
        sys.exit(f"a slip should give one error:\n{text}")
    message = re.search(r"attention\.hpp:\d+:\d+: error: .*?(?=\n +\d+ \|)", promised, re.S)[0]
    if words(message) not in words(text):
        sys.exit(f"the README promises\n{message}\nbut the compiler says\n{text}")


main()
