#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes kernels for macOS on 64-bit ARM and reads the objects: they are for that system, they define what the tables
refer to, and they need nothing but the runtimes and the C library. Nothing is run.

    symbols.py GENERATOR FOLDER KERNEL..."""
import pathlib
import re
import struct
import subprocess
import sys

MACHINE = "aarch64-macos"
ARM64, OBJECT, SYMTAB, BUILD_VERSION, MACOS = 0x0100000C, 1, 0x2, 0x32, 1
# Functions of the C library that compiled code may call, besides those of the runtimes.
LIBRARY = {"memcpy", "memset", "memmove", "bzero", "expf", "exp", "logf", "log", "powf", "pow", "sinf", "sin", "cosf", "cos",
           "tanhf", "tanh", "fmodf", "fmod", "floorf", "ceilf", "sqrtf", "sqrt", "abort"}


def members(archive):
    """The objects in an archive as macOS has them: a name that is #1/N comes in the first N bytes of the contents."""
    data = archive.read_bytes()
    assert data.startswith(b"!<arch>\n"), f"{archive} is not an archive"
    at = 8
    while at + 60 <= len(data):
        name, size = data[at:at + 16].decode().strip(), int(data[at + 48:at + 58])
        content = data[at + 60:at + 60 + size]
        if name.startswith("#1/"):
            length = int(name[3:])
            name, content = content[:length].rstrip(b"\0").decode(), content[length:]
        if not name.startswith("__.SYMDEF"):
            yield name, content
        at += 60 + size + size % 2


def symbols(content):
    """(symbols that a Mach-O object defines for others, symbols that it needs), or an AssertionError."""
    magic, cpu, _, kind, commands = struct.unpack_from("<5I", content)
    assert (magic, cpu, kind) == (0xFEEDFACF, ARM64, OBJECT), f"not an object for arm64: {magic:x} {cpu:x} {kind}"
    at, defined, needed = 32, set(), set()
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", content, at)
        if command == BUILD_VERSION:
            assert struct.unpack_from("<I", content, at + 8)[0] == MACOS, "not for macOS"
        if command == SYMTAB:
            first, count, texts, _ = struct.unpack_from("<4I", content, at + 8)
            for i in range(count):
                text, flags, section, _, _ = struct.unpack_from("<IBBHQ", content, first + 16 * i)
                begin = texts + text
                name = content[begin:content.index(b"\0", begin)].decode()
                if flags & 0x01 and not flags & 0xE0:  # external, not of a debugger
                    assert name.startswith("_"), f"{name}: C names begin with _"
                    (defined if flags & 0x0E else needed).add(name[1:])
        at += size
    return defined, needed


def main():
    generator, folder, *kernels = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    target = ["--out", str(folder), "--targets", MACHINE]
    subprocess.run([generator, "library", "--name", "macos", *target], check=True)
    referred = set(re.findall(r"^extern int (\w+)\(void \*\*\);", (folder / "macos_kernels.c").read_text(), re.M))
    for kernel in kernels:
        subprocess.run([generator, "kernel", kernel, *target], check=True)
        defined, needed = set(), set()
        for _, content in members(folder / f"{kernel}.a"):
            more_defined, more_needed = symbols(content)
            defined, needed = defined | more_defined, needed | more_needed
        entry = f"qkv_code_{kernel}_{MACHINE.replace('-', '_')}_argv"
        assert entry in referred and entry in defined, f"{kernel}: no {entry} among {sorted(defined)}"
        strange = {name for name in needed - defined if name not in LIBRARY and not name.startswith(("halide_", "qkv_"))}
        assert not strange, f"{kernel} needs {sorted(strange)}"
        print(f"{kernel}: {len(defined)} symbols defined, {len(needed)} needed")


main()
