# SPDX-License-Identifier: BSL-1.0
"""Reports on a run of peers.py: a summary, a comparison with an earlier run, a picture."""
import math
import statistics
from html import escape

MOST = 3.0  # a single case counts no more than this in a mean


def mean(ratios):
    return math.exp(statistics.fmean(math.log(min(r, MOST)) for r in ratios))


def ratios_to_best(results, name):
    """(case, phase, time of the best other peer / time of this one) where both gave a right answer."""
    found = []
    for own in results:
        if own["peer"] != name or not own.get("right"):
            continue
        others = [r["ms"] for r in results if r["case"] == own["case"] and r["peer"] != name and r.get("right")]
        if others:
            found.append((own["case"], own["phase"], min(others) / own["ms"]))
    return found


def summary(results, name):
    """Lines: all cases, then a line for each phase, against the best other peer of each case; shares of the roof
    where there is no other peer."""
    own = [r for r in results if r["peer"] == name]
    if not own:
        return f"{name}: no case was run"
    wrong = [r["case"] for r in own if not r.get("right")]
    lines = [f"{name}: {len(own)} cases" + (f", wrong or not run: {', '.join(wrong)}" if wrong else ", all right")]
    ratios = ratios_to_best(results, name)
    if not ratios:
        own = [r for r in own if "ms" in r]
        for phase in sorted({r["phase"] for r in own}):
            shares = [r["roof"] for r in own if r["phase"] == phase]
            lines.append(f"  {phase:12} {len(shares):3} cases   {statistics.median(shares):5.1f} % of the roof (median)   worst {min(shares):5.1f} %")
        return "\n".join(lines)
    lines.append("  against the best of the others, each ratio counted as 3 at most")
    for phase in ["all"] + sorted({p for _, p, _ in ratios}):
        some = [r for r in ratios if phase in ("all", r[1])]
        worst = min(some, key=lambda r: r[2])
        first = sum(r >= 1 for _, _, r in some)
        lines.append(f"  {phase:12} {len(some):3} cases   geometric mean {mean([r for _, _, r in some]):5.2f}   first in {first:3}   "
                     f"worst {worst[2]:5.2f} ({worst[0]})")
    return "\n".join(lines)


def comparison(old, new, names):
    """Old time / new time of these programs where both runs gave a right answer, case by case, slowest first."""
    before = {(r["case"], r["peer"]): r["ms"] for r in old if r.get("right")}
    common = [r for r in new if r["peer"] in names and r.get("right") and (r["case"], r["peer"]) in before]
    rows = sorted(((before[r["case"], r["peer"]] / r["ms"], r) for r in common), key=lambda row: row[0])
    if not rows:
        return "no case in common with the earlier run"
    lines = [f"  {ratio:6.3f}  {r['peer']:10} {r['case']:32} {before[r['case'], r['peer']]:10.3f} -> {r['ms']:10.3f} ms" for ratio, r in rows]
    return "\n".join(["speed against the earlier run (above 1: faster now)", *lines, f"  geometric mean {statistics.geometric_mean(ratio for ratio, _ in rows):.3f}"])


def roofline(results, ceilings, names):
    """An SVG: flops a byte against GFLOP/s, both logarithmic, under what memory (its slowest level) and
    multiply-adds allow: cases that fit into a cache may lie above the slope."""
    rows = [r for r in results if r["peer"] in names and "ms" in r]
    peak, read = ceilings["fp32_gflops"], min(ceilings["read_gbs"].values())
    colours = dict(zip(sorted({r["phase"] for r in rows}), ("#1b7837", "#762a83", "#2166ac", "#b35806")))
    width, height, left, top = 760, 460, 70, 30
    xs = [r["intensity"] for r in rows] + [0.25, peak / read]
    x0, x1 = math.log2(min(xs)), math.log2(max(xs)) + 0.5
    y0, y1 = math.log2(max(1e-3, min([r["gflops"] for r in rows] + [peak / 64]))) - 0.5, math.log2(peak) + 0.7
    x = lambda v: left + (math.log2(v) - x0) / (x1 - x0) * (width - left - 20)
    y = lambda v: height - 60 - (math.log2(v) - y0) / (y1 - y0) * (height - 60 - top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">',
             "<title>Speed of each case under the roof of this machine</title>",
             "<style>text{fill:#222}path{stroke:#222}@media(prefers-color-scheme:dark){text{fill:#ddd}path{stroke:#ddd}}</style>"]
    corner = peak / read
    parts.append(f'<path fill="none" stroke-width="1.5" d="M{x(2**x0):.1f} {y(read * 2**x0):.1f}L{x(corner):.1f} {y(peak):.1f}H{x(2**x1):.1f}"/>')
    for k in range(math.ceil(x0), math.floor(x1) + 1, 2):
        parts.append(f'<text x="{x(2**k):.1f}" y="{height - 40}" text-anchor="middle">{2**k:g}</text>')
    for k in range(math.ceil(y0), math.floor(y1) + 1):
        parts.append(f'<text x="{left - 8}" y="{y(2**k) + 4:.1f}" text-anchor="end">{2**k:g}</text>')
    for r in rows:
        parts.append(f'<circle cx="{x(r["intensity"]):.1f}" cy="{y(r["gflops"]):.1f}" r="4" fill="{colours[r["phase"]]}" fill-opacity="0.8">'
                     f'<title>{escape(r["case"])}: {r["gflops"]:.1f} GFLOP/s, {r["roof"]:.0f} % of the roof</title></circle>')
    for k, (phase, colour) in enumerate(colours.items()):
        parts.append(f'<circle cx="{left + 20 + 130 * k}" cy="{top - 12}" r="4" fill="{colour}"/><text x="{left + 30 + 130 * k}" y="{top - 8}">{phase}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 16}" text-anchor="middle">flops a byte of arguments</text>')
    parts.append(f'<text x="16" y="{height / 2}" text-anchor="middle" transform="rotate(-90 16 {height / 2})">GFLOP/s</text></svg>')
    return "\n".join(parts) + "\n"
