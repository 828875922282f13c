#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""No two labels of a picture overlap; it has a title and follows the reader's dark mode.

    labels.py FOLDER     every SVG file below it; a line for each pair that overlaps
    labels.py --test     planted overlaps are found
"""
import math
import pathlib
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
LETTER, MONOSPACE = 0.52, 0.6  # usual width of a letter, of the size of the font
ABOVE, BELOW = 0.72, 0.2  # of the base line


def inherited(element, parents, name, default):
    while element is not None:
        if name in element.attrib:
            return element.attrib[name]
        element = parents.get(element)
    return default


def corners(text, parents, letter):
    """Left, top, right and bottom of a label; of one that is turned, around all of it."""
    size = float(inherited(text, parents, "font-size", 13))
    x, y = float(text.get("x")), float(text.get("y"))
    width = letter * size * len("".join(text.itertext()))
    left = x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
    points = [(left, y - ABOVE * size), (left + width, y + BELOW * size),
              (left, y + BELOW * size), (left + width, y - ABOVE * size)]
    turn = text.get("transform", "")
    if turn.startswith("rotate("):
        angle, cx, cy = map(float, turn[7:-1].replace(",", " ").split())
        sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
        points = [(cx + (a - cx) * cosine - (b - cy) * sine, cy + (a - cx) * sine + (b - cy) * cosine)
                  for a, b in points]
    across, down = zip(*points)
    return min(across), min(down), max(across), max(down)


def overlaps(picture):
    """The pairs of labels that overlap."""
    root = xml.fromstring(picture)
    parents = {child: parent for parent in root.iter() for child in parent}
    letter = MONOSPACE if "monospace" in picture else LETTER
    labels = [("".join(t.itertext()), corners(t, parents, letter)) for t in root.iter(SVG + "text")]
    for k, (a, (left, top, right, bottom)) in enumerate(labels):
        for b, other in labels[:k]:
            if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                yield b, a


def page(*labels):
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(labels)}</svg>'


def planted():
    here, near = '<text x="10" y="20">scores</text>', '<text x="30" y="25">weights</text>'
    below = '<text x="10" y="40">weights</text>'
    turned = '<text x="30" y="60" transform="rotate(-90 30 60)">weights</text>'
    assert list(overlaps(page(here, near))) == [("scores", "weights")]
    assert not list(overlaps(page(here, below)))
    assert list(overlaps(page(here, turned))) == [("scores", "weights")]
    assert list(faults(page(here))) == ["no title", "no dark mode"]


def faults(picture):
    for a, b in overlaps(picture):
        yield f"'{a}' and '{b}' overlap"
    if xml.fromstring(picture).find(SVG + "title") is None:
        yield "no title"
    if "prefers-color-scheme:dark" not in picture:
        yield "no dark mode"


def main(folder):
    found = [f"{file}: {fault}" for file in sorted(pathlib.Path(folder).rglob("*.svg")) for fault in faults(file.read_text())]
    sys.exit("\n".join(found) or 0)


planted() if sys.argv[1:] == ["--test"] else main(sys.argv[1])
