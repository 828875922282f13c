#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes table.hpp: what the original's tokenizer makes of each code point, asked of the tokenizer itself.

    table.py TOKENIZER_JSON > table.hpp      needs the package tokenizers
"""
import sys
import unicodedata

from tokenizers import Tokenizer

ROW = 32  # code points in one row of the table of folds


def ask(tokenizer):
    """(kind, text) of every code point: what stands between two letters after splitting into words."""
    answers = {}
    for code in [*range(1, 0xD800), *range(0xE000, 0x110000)]:
        text = tokenizer.normalizer.normalize_str(f"a{chr(code)}a")
        words = [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
        if words == ["aa"]:
            answers[code] = "nothing", ""
        elif words == ["a", "a"]:
            answers[code] = "space", ""
        elif len(words) == 3:
            answers[code] = "alone", words[1]
        else:
            assert len(words) == 1, (hex(code), words)
            answers[code] = "letter", words[0][1:-1]
    return answers


def ranges(codes):
    found = []
    for code in sorted(codes):
        if found and found[-1][1] + 1 == code:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def literal(text):
    """Letters as they are, unless they are drawn from right to left or on top of another one."""
    def written(c):
        if c in '"\\':
            return "\\" + c
        if unicodedata.category(c)[0] in "LNPSZ" and unicodedata.bidirectional(c) not in ("R", "AL"):
            return c
        return f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\U{ord(c):08X}"

    return "".join(map(written, text))


def print_ranges(name, comment, found):
    print(f"\n// {comment}\ninline constexpr range {name}[] = {{")
    cells = [f"{{0x{first:X}, 0x{last:X}}}," for first, last in found]
    line = "   "
    for cell in cells:
        if len(line) + len(cell) > 98:
            print(line)
            line = "   "
        line += " " + cell
    print(line + "\n};")


def main():
    answers = ask(Tokenizer.from_file(sys.argv[1]))
    folds = {c: text for c, (_, text) in answers.items() if text not in ("", chr(c)) and not 0xAC00 <= c <= 0xD7A3}
    print("""#pragma once
// What the original's tokenizer makes of each code point: written by table.py, which asks it about every one.
// clang-format off

namespace minilm::unicode {

struct range {
  char32_t first, last;
};""")
    for name, comment in (("nothing", "Left out: control characters, marks on letters."), ("space", "Between words."),
                          ("alone", "Words by themselves: punctuation, Chinese characters.")):
        print_ranges(name, comment, ranges(c for c, (kind, _) in answers.items() if kind == name))
    print(f"""
// In lower case, without marks: {ROW} code points a row, a space where nothing changes.
inline constexpr char32_t row_length = {ROW};
struct fold_row {{
  char32_t first;
  const char32_t *folded;
}};
inline constexpr fold_row fold_rows[] = {{""")
    for first in sorted({c // ROW * ROW for c, text in folds.items() if len(text) == 1}):
        row = "".join(folds[c] if len(folds.get(c, "")) == 1 else " " for c in range(first, first + ROW))
        cell = f"    {{0x{first:X}, "
        parts = [row]
        if len(literal(row)) > 84:
            parts = [row[k:k + ROW // 4] for k in range(0, ROW, ROW // 4)]
        print(cell + ("\n" + " " * len(cell)).join(f'U"{literal(part)}"' for part in parts) + "},")
    print("""};

// The few that become several.
struct long_fold {
  char32_t from;
  const char32_t *folded;
};
inline constexpr long_fold long_folds[] = {""")
    for code in sorted(c for c, text in folds.items() if len(text) > 1):
        print(f'    {{0x{code:X}, U"{literal(folds[code])}"}},')
    print("};\n\n}  // namespace minilm::unicode")


main()
