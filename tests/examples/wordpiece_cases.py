#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes wordpiece_cases.hpp: texts with the tokens that the original's tokenizer (package tokenizers 0.23) gives them.

    wordpiece_cases.py TOKENIZER_JSON > wordpiece_cases.hpp
    wordpiece_cases.py TOKENIZER_JSON VOCABULARY PROGRAM     compares PROGRAM with it on a million texts: PROGRAM reads
                                                             texts that end with a zero byte, prints a line of tokens each
"""
import random
import subprocess
import sys
import unicodedata

from tokenizers import Tokenizer

TEXTS = [
    "", " ", "Hello, World!", "The trophy does not fit in the suitcase because it is too small.",
    "unaffable embeddings: Supercalifragilisticexpialidocious", "don't can't won't it's I'm",
    "3.14159 is not 22/7; $5.00 + 10% = €5,50", "e-mail: someone@example.com, https://example.com/a_b?c=d&e#f",
    "tabs\tand\nnew\r\nlines\v\fend", "no\u00a0break\u2009thin\u3000ideographic\u200bzero width",
    "zero\0byte", "soft\u00adhyphen \ufeffmark \ufffdreplacement \u0007bell \x7fdelete",
    "Café naïve façade Ångström señor Zürich Škoda", "Cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
    "ÀÉÎÕÜ àéîõü ẞß Œœ Ææ Øø Łł Đđ Þþ", "İstanbul Iğdır ıI", "Tiếng Việt có dấu Ữ Ặ",
    "Ελληνικά ΟΔΥΣΣΕΥΣ ὀδυσσεύς", "Москва ёлка Йод Україна", "עִבְרִית שָׁלוֹם", "العربيّة مُحَمَّد", "हिन्दी की किताब", "ภาษาไทยที่",
    "漢字かな交じり文、がぎぐ。ガギグ", "東京2024年 中文abc中文", "豈更車賈 \U0002f800", "한국어 서울 각", "ﬁle Ａｂｃ １２３ ①②",
    "≠ ≤ ½ ² ° © ™ → ∞ − –—…“quotes”‘single’«guillemets»", "¿Qué? ¡Sí!", "emoji 😀 👍🏽 👩‍💻 🇩🇪 text",
    "[CLS] in [MASK] the [SEP]middle[PAD] [UNK]", "[mask] [[SEP]] [CLS ] [unused1]", "##ing ## # a##b", "~`!@#$%^&*()_-+={}[]|\\:;\"'<>,.?/",
    "x\u0301\u0302\u0303y \u0301alone", "K\u212a \u212b \u2126 ;\u037e", "\U0001d54f\U0001d4d0 𐐀𐐨", "a" * 20 + " " + "zqxj" * 6,
]


def literal(text):
    def written(c):
        if c in '"\\':
            return "\\" + c
        if unicodedata.category(c)[0] in "LNPSZ" and unicodedata.bidirectional(c) not in ("R", "AL") and (c == " " or not c.isspace()):
            return c
        return "".join(f"\\{byte:03o}" for byte in c.encode())

    return "".join(map(written, text))


def write(tokenizer):
    print("""// SPDX-License-Identifier: BSL-1.0
#pragma once
// Texts with the tokens that the original's tokenizer gives them: written by wordpiece_cases.py.
// clang-format off
#include <cstdint>
#include <string_view>
#include <vector>

struct wordpiece_case {
  std::string_view text;
  std::vector<std::int32_t> tokens;
};
inline const wordpiece_case wordpiece_cases[] = {""")
    used = {}
    for text in TEXTS:
        found = tokenizer.encode(text)
        used.update(zip(found.ids, found.tokens))
        size = f", {len(text.encode())}" if "\0" in text else ""
        print(f'    {{{{"{literal(text)}"{size}}},\n     {{{", ".join(map(str, found.ids))}}}}},' if size else
              f'    {{"{literal(text)}",\n     {{{", ".join(map(str, found.ids))}}}}},')
    print("""};

// What they need of the original's vocabulary of 30522 pieces.
struct numbered_piece {
  std::int32_t number;
  const char *piece;
};
inline const numbered_piece numbered_pieces[] = {""")
    line = "   "
    for number, piece in sorted(used.items()):
        cell = f' {{{number}, "{literal(piece)}"}},'
        if len(line + cell) > 98:
            print(line)
            line = "   "
        line += cell
    print(line + "\n};")


def compare(tokenizer, vocabulary, program):
    draw = random.Random(1)
    pieces = [line.removeprefix("##") for line in open(vocabulary).read().splitlines()]
    between = ["", " ", "-", "[SEP]", "[", "[MASK]", "'"]
    characters = [*range(1, 0x3100), *range(0x4E00, 0x5000), *range(0xAC00, 0xB000), *range(0x1F300, 0x1F700),
                  *[32] * 8000, *[*range(97, 123)] * 500]
    texts = [f"x{chr(c)}y {chr(c)}" for c in [*range(1, 0xD800), *range(0xE000, 0x110000)]]
    for most in [60] * 20000:
        texts.append("".join(chr(draw.choice(characters)) for _ in range(draw.randint(0, most))))
    for most in [20] * 18000 + [300] * 2000:
        texts.append("".join(draw.choice(pieces) + draw.choice(between) for _ in range(draw.randint(0, most))))
    texts += [letter * n for letter in "aé" for n in (99, 100, 101)]
    lines = subprocess.run([program, vocabulary], input="\0".join(texts) + "\0", check=True,
                           capture_output=True, text=True).stdout.splitlines()
    wanted = tokenizer.encode_batch(texts)
    wrong = [text for text, line, want in zip(texts, lines, wanted, strict=True) if [*map(int, line.split())] != want.ids]
    print(f"{len(texts)} texts, {len(wrong)} differ", *map(ascii, wrong[:10]), sep="\n  ")
    sys.exit(len(wrong) > 0)


tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_padding()
tokenizer.enable_truncation(256)
if len(sys.argv) > 2:
    compare(tokenizer, *sys.argv[2:])
write(tokenizer)
