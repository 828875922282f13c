# SPDX-License-Identifier: BSL-1.0
"""The mistakes that planted_skeletons.py plants, and those that change nothing, with the reason."""
import dataclasses

WRONG = "expected"  # numbers
RACE = "race in shared memory"
OUTSIDE = "global memory: "
DEADLOCK = "deadlock"
FENCE = "without fence.proxy.async"


@dataclasses.dataclass(frozen=True)
class Run:
    """One trial of a kernel of tensor_specs.hpp; `code` ends the names of the files that it runs. `seed` chooses sizes
    of batches, numbers and the layout, `order` that of warps, `scale` the size of the numbers."""
    kernel: str
    code: str
    rows: int
    keys: int
    capability: int
    seed: int = 3
    order: int = 0
    scale: int = 1

    @property
    def program(self):
        return self.kernel[3:] + "_gradient" if self.kernel.startswith("of_") else self.kernel


@dataclasses.dataclass(frozen=True)
class Mistake:
    """`text` of a skeleton becomes `instead`; `noticed` is a part of what is said about it."""
    name: str
    file: str
    run: Run
    noticed: str
    text: str
    instead: str
    reason: str = ""  # for which it is harmless


# Tiles of 128 rows and 64 keys; the last of each is not full.
MMA = Run("full_bf16", ".mma128x64", 150, 200, 80)
MMA_CAUSAL = Run("causal_bf16", ".mma128x64", 150, 300, 80)
MMA_PRECISE_BF16 = Run("precise_bf16", ".mma128x64", 70, 100, 80)
MMA_PRECISE = Run("precise_f16", ".mma128x64", 70, 100, 80)
# Eleven tiles of keys are divided among blocks.
SPLIT = Run("full_bf16", ".mma16x64for16rows", 3, 700, 80)
TF32 = Run("causal_f32", ".tf32128x32", 140, 200, 80)
TF32_WIDE = Run("full_f32", ".tf32128x32", 70, 100, 80)
FOLDED = Run("folded_bias", ".tf3216x16for16rows", 3, 90, 80, seed=1)
ODD_VALUES = Run("folded_bias", ".tf32128x32", 50, 90, 80)  # 25 columns
WINDOW = Run("grouped_window", ".mma128x64", 200, 50, 80)
WGMMA = Run("full_bf16", ".wgmma128x128", 100, 900, 90)
WGMMA_CAUSAL = Run("causal_bf16", ".wgmma128x128", 300, 700, 90)
WGMMA_LARGE = Run("causal_bf16", ".wgmma128x128", 600, 600, 90, scale=10)
WGMMA_PRECISE = Run("precise_f16", ".wgmma128x128", 70, 100, 90)
PAIRS_MMA = Run("of_causal_bf16", ".pair_sums_mma128x64", 150, 300, 80)
PAIRS_F16 = Run("of_full_f16", ".pair_sums_mma128x64", 150, 300, 80)
PAIRS_TF32 = Run("of_causal_f32", ".pair_sums_tf3264x32", 150, 140, 80)
PAIRS_WGMMA = Run("of_causal_bf16", ".pair_sums_wgmma128x64", 400, 400, 90)
ACROSS = Run("weights_bf16", ".mma128x128", 300, 5, 80)
ACROSS_WGMMA = Run("wide_weights_bf16", ".wgmma128x128", 700, 5, 90)
PROJECT = Run("project_f32", ".tf32128x64", 140, 5, 80)
ODD = Run("odd_columns", ".mma128x64", 140, 5, 80)
COLUMNS_WGMMA = Run("wide_columns_first", ".wgmma128x128", 300, 5, 90)

MISTAKES = []


def plant(run, file, *entries):
    for name, noticed, text, instead in entries:
        MISTAKES.append(Mistake(name, file + ".cuh", run, noticed, text, instead))


# ---- numbers, copies and tiles ------------------------------------------------------------------
plant(
    MMA, "common",
    ("the halves of a pair are exchanged", WRONG,
     'asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));',
     'asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(low), "f"(high));'),
    ("rows past the end are copied", OUTSIDE, "copy_bytes(to, from, there ? 16 : 0);", "copy_bytes(to, from, 16);"),
    ("one row past the end is copied", WRONG, "first + r + k * step < n));", "first + r + k * step <= n));"),
    ("copies do not exchange pieces", WRONG, "const unsigned own = to + Tile::at(r, c);",
     "const unsigned own = to + static_cast<unsigned>((c / 8 * Tile::rows + r) * 128 + c % 8 * 16);"),
    ("further steps do not exchange pieces", RACE,
     "(address ^ static_cast<unsigned>((more_rows ^ more_pieces) % 8 * 16)) +",
     "(address + static_cast<unsigned>((more_rows ^ more_pieces) % 8 * 16)) +"),
    ("the sum of a row lacks two lanes", WRONG, "return x + of_neighbour(x, 2);", "return x;"),
    ("the maximum of a row lacks two lanes", WRONG, "return larger(x, of_neighbour(x, 2));", "return x;"),
    ("a stored pair is exchanged", WRONG, "low | static_cast<unsigned>(high) << 16;",
     "high | static_cast<unsigned>(low) << 16;"),
)
plant(
    MMA_CAUSAL, "common",
    ("the second plane of a tile lies elsewhere", WRONG,
     "static_cast<unsigned>((more_pieces / 8 * Rows + more_rows) * 128);",
     "static_cast<unsigned>((more_pieces / 8 * 8 + more_rows) * 128);"),
)
plant(
    ODD_VALUES, "common",
    ("rows past the last one are copied one by one", OUTSIDE,
     "const bool there = first + r < n && c < Tile::columns;", "const bool there = c < Tile::columns;"),
)
plant(
    dataclasses.replace(ODD_VALUES, keys=92), "common",
    ("columns past the last one are copied one by one", OUTSIDE,
     "const bool there = first + r < n && c < Tile::columns;", "const bool there = first + r < n;"),
)
# ---- masks, rows and keys of a block ------------------------------------------------------------
plant(
    MMA, "attention",
    ("the last tile of keys is missing", WRONG, "to = (seen.end + BN - 1) / BN;", "to = seen.end / BN;"),
)
plant(
    dataclasses.replace(TF32_WIDE, keys=95), "attention",
    ("one key too many is visible", WRONG, "bool visible = j < Spec::n_keys(a);", "bool visible = j <= Spec::n_keys(a);"),
    ("a tile that lacks one key counts as whole", WRONG, "if (j1 > Spec::n_keys(a)) return false;",
     "if (j1 > Spec::n_keys(a) + 1) return false;"),
)
plant(
    MMA_CAUSAL, "attention",
    ("a block visits the keys of its first row alone", WRONG, "least(Spec::end_of_keys(a, at, i0, i1), r.end);",
     "least(Spec::end_of_keys(a, at, i0, i0 + 1), r.end);"),
)
plant(
    WINDOW, "attention",
    ("a window begins a tile too late", WRONG, "from = seen.first / BN;", "from = (seen.first + BN - 1) / BN;"),
)
plant(
    SPLIT, "attention",
    ("keys are left over when they are split", WRONG, "share = (largest(to - from, 0) + n - 1) / n;",
     "share = largest(to - from, 0) / n;"),
    ("two blocks visit the same keys", WRONG, "to = least(to, from + share);", "to = least(to, from + share + 1);"),
)
plant(
    TF32, "attention",
    ("the logsumexp has another base", WRONG, "base * log_of_2 + logarithm(total);", "base + logarithm(total);"),
    ("a column past the last one is stored", WRONG, "if (column >= Spec::DV) return;", "if (column > Spec::DV) return;"),
)
plant(
    ODD_VALUES, "attention",
    ("pairs are stored where they are not aligned", "aligned", "pairs(is_aligned(first, stride, 2 * sizeof(number))) {}",
     "pairs(true) {}"),
)
plant(
    FOLDED, "attention",
    ("rows and heads of a folded tile are exchanged", OUTSIDE, "at = Spec::of_fold(at, n > 0 ? known / n : 0);",
     "at = Spec::of_fold(at, n > 0 ? known % n : 0);"),
)
# ---- warps that compute alone -------------------------------------------------------------------
plant(
    MMA, "warps",
    ("the matrices of queries come in another order", WRONG, "return q_tile::at(row0 + lane % 16, lane / 16);",
     "return q_tile::at(row0 + lane % 8 + lane / 16 * 8, lane / 8 % 2);"),
    ("the matrices of keys come in another order", WRONG, "return k_tile::at(lane % 8 + lane / 16 * 8, lane / 8 % 2);",
     "return k_tile::at(lane % 16, lane / 16);"),
    ("warps overlap", WRONG, "const int row0 = warp * MT * 16;", "const int row0 = warp * 16;"),
    ("keys are not waited for", RACE, "wait_for_copies<1>();  // these keys (and the queries) are there",
     "wait_for_copies<2>();"),
    ("values are not waited for", RACE, "wait_for_copies<1>();  // these values are there", "wait_for_copies<2>();"),
    ("no barrier before keys are overwritten", RACE,
     "wait_for_block();      // and all warps have finished reading the other stage", ""),
    ("no barrier after values have arrived", RACE,
     "wait_for_copies<1>();  // these values are there\n    wait_for_block();", "wait_for_copies<1>();"),
    ("keys are copied into the stage that is read", RACE, "if (n + 1 < own.to) load_keys(n + 1, stage ^ 1);",
     "if (n + 1 < own.to) load_keys(n + 1, stage);"),
    ("the running sum is not scaled", WRONG, "sum[m][h] = sum[m][h] * scale + total;", "sum[m][h] = sum[m][h] + total;"),
    ("one of two neighbours is not scaled", WRONG, "o[m][x][2 * h] *= scale, o[m][x][2 * h + 1] *= scale;",
     "o[m][x][2 * h] *= scale;"),
    ("results go to columns of another lane", WRONG, "result.store(q.i, x * 8 + t * 2, low, high);",
     "result.store(q.i, x * 8 + (t ^ 1) * 2, low, high);"),
    ("the last tile is not visited", WRONG, "for (int n = own.from; n < own.to; ++n) {",
     "for (int n = own.from; n + 1 < own.to; ++n) {"),
    ("no tile after the first is copied", WRONG, "if (n + 1 < own.to) load_values(n + 1, stage ^ 1);", ""),
)
plant(
    MMA_CAUSAL, "warps",
    ("the mask is that of eight rows before", WRONG,
     "const query_row<Spec> q(a, at, i0 + row0 + m * 16 + g + e / 2 * 8);\n            const int j",
     "const query_row<Spec> q(a, at, i0 + row0 + m * 16 + g);\n            const int j"),
    ("the mask is that of the neighbour", WRONG, "const int j = j0 + x * 8 + t * 2 + e % 2;\n            s[m][x][e] =",
     "const int j = j0 + x * 8 + t * 2;\n            s[m][x][e] ="),
    ("the last row decides whether a tile is whole", WRONG, "is_whole<Spec>(a, at, positions.first, positions.end, j0",
     "is_whole<Spec>(a, at, positions.end - 1, positions.end, j0"),
)
plant(
    SPLIT, "warps",
    ("merged results are not scaled", WRONG, "const float scale = power_of_two(part[0] - base);", "const float scale = 1;"),
    ("merged sums are not scaled", WRONG, "total += part[1] * scale;", "total += part[1];"),
    ("blocks overwrite the results of others", WRONG, "(of_all * Spec::n_splits(a) + split) * Spec::RECORD;",
     "(of_all + split) * Spec::RECORD;"),
    ("the results of the last block are not merged", WRONG, "for (int s = 0; s < n; ++s) {",
     "for (int s = 0; s < n - 1; ++s) {"),
    ("a partial sum has a quarter of its row", WRONG,
     "const float total = sum_of_four(sum[m][h]);\n          const int row", "const float total = sum[m][h];\n          const int row"),
)
plant(
    TF32, "warps",
    ("no barrier after keys were split in two parts", RACE, "if (M::keys_in_parts || n == own.from) wait_for_block();",
     "if (n == own.from) wait_for_block();"),
    ("no barrier after values were split in two parts", RACE,
     "make_parts<v_tile>(values.at, values.low, thread);\n      wait_for_block();",
     "make_parts<v_tile>(values.at, values.low, thread);"),
    ("the second parts of keys lie in the second stage", RACE, "tile_place{sk + stage * k_tile::bytes, sk + 2 * k_tile::bytes}",
     "tile_place{sk + stage * k_tile::bytes, sk + k_tile::bytes}"),
)
plant(
    FOLDED, "warps",
    ("the rows of a folded tile are those of its first head", WRONG, "const query_row<Spec> own(a, at, first + r);\n    const bool",
     "const query_row<Spec> own(a, at, first + r % Spec::n_rows(a));\n    const bool"),
)
# ---- products by mma.sync -----------------------------------------------------------------------
plant(
    MMA, "mma",
    ("values are not transposed", WRONG, "load_matrices<true>(b, v_tile::further(v, kk * 16, 2 * x));",
     "load_matrices<false>(b, v_tile::further(v, kk * 16, 2 * x));"),
    ("the registers of weights are exchanged", WRONG, "pa[part][m][e] = part_of_pair<T>(low, high);",
     "pa[part][m][e ^ 1] = part_of_pair<T>(low, high);"),
    ("the registers of keys are exchanged", WRONG, "multiply<T>(s[m][2 * x + 1], qa[m], b[2], b[3]);",
     "multiply<T>(s[m][2 * x + 1], qa[m], b[3], b[2]);"),
    ("the registers of values are those of other columns", WRONG, "multiply<T>(o[m][2 * x + 1], pa[part][m], b[2], b[3]);",
     "multiply<T>(o[m][2 * x + 1], pa[part][m], b[0], b[1]);"),
    ("the last features are missing", WRONG, "kk < (Spec::D + 15) / 16", "kk < (Spec::D - 1) / 16"),
)
plant(
    MMA_PRECISE, "mma",
    ("the second parts of weights are missing", WRONG, "parts = Spec::weight_parts;", "parts = 1;"),
)
plant(
    MMA_PRECISE_BF16, "mma",
    ("the third parts of weights are missing", WRONG, "parts = Spec::weight_parts;", "parts = 2;"),
)
# ---- products of TF32 ---------------------------------------------------------------------------
plant(
    TF32, "products",
    ("the second part of a is missing", WRONG, "multiply_tf32(c, a.low, b.high);", ""),
    ("the second part of b is missing", WRONG, "multiply_tf32(c, a.high, b.low);", ""),
    ("a second part is not the rest", WRONG, "bits_of_float(x - float_of_bits(static_cast<int>(high))));",
     "bits_of_float(x - float_of_bits(static_cast<int>(high)))) & 0xfff00000u;"),
)
plant(
    TF32, "tf32",
    ("the last features are missing in TF32", WRONG, "steps = (Spec::D + 7) / 8", "steps = Spec::D / 8"),
    ("the registers of weights are in the order of scores", WRONG, "weights[m][y].set(e, p[m][y][e % 2 * 2 + e / 2]);",
     "weights[m][y].set(e, p[m][y][e]);"),
    ("values are not those of the weights", WRONG, "v_tile::of_element(lane % 4 * 2 + 1, lane / 4)};",
     "v_tile::of_element(lane % 4 + 4, lane / 4)};"),
    ("first parts are not stored", WRONG, "      store_four(at + static_cast<unsigned>(e) * 16, high);\n", ""),
)
plant(
    TF32_WIDE, "tf32",
    ("sums of features never begin anew", WRONG,
     "add_product(s[m][2 * x + y], qa[m], b[y]);", "multiply(s[m][2 * x + y], qa[m], b[y]);"),
)
plant(
    dataclasses.replace(TF32_WIDE, keys=2000), "tf32",
    ("sums of keys never begin anew", WRONG,
     "multiply_tf32(part[m], weights[m][first + y].high, b[y].high);",
     "multiply_tf32(o[m][x], weights[m][first + y].high, b[y].high);"),
)
# ---- attention by wgmma -------------------------------------------------------------------------
plant(
    WGMMA, "wgmma",
    ("no fence after keys have arrived", FENCE,
     "wait_for(k_bars.full(now.stage), now.round & 1);\n      publish();",
     "wait_for(k_bars.full(now.stage), now.round & 1);"),
    ("no fence after the last values have arrived", FENCE,
     "wait_for(v_bars.full(before.stage), before.round & 1);\n    publish();\n    begin",
     "wait_for(v_bars.full(before.stage), before.round & 1);\n    begin"),
    ("the last values are not waited for", WRONG,
     "wait_for(v_bars.full(before.stage), before.round & 1);\n    publish();\n    begin", "publish();\n    begin"),
    ("no fence orders the registers of wgmma", "wgmma.fence", "my_turn();\n      begin_products();\n", "my_turn();\n"),
    ("keys are waited for in the first round alone", RACE, "wait_for(k_bars.full(now.stage), now.round & 1);",
     "wait_for(k_bars.full(now.stage), now.round > 0);"),
    ("the first keys are freed before their products end", RACE,
     "wait_for_products<0>();\n    pin(s);\n    if (thread == 0) arrive(k_bars.free(0));",
     "if (thread == 0) arrive(k_bars.free(0));\n    wait_for_products<0>();\n    pin(s);"),
    ("values are freed while the products of the next tile run", RACE,
     "values(before.stage);\n      your_turn();",
     "values(before.stage);\n      if (thread == 0) arrive(v_bars.free(before.stage));\n      your_turn();"),
    ("values are never freed", DEADLOCK, "if (thread == 0) arrive(v_bars.free(before.stage));\n      if (W", "if (W"),
    ("the first tile of keys is not freed", DEADLOCK, "if (thread == 0) arrive(k_bars.free(0));", ""),
    ("copies wait for the other phase", DEADLOCK, "parity = (now.round & 1) ^ 1,", "parity = now.round & 1,"),
    ("copies never wait for a free stage", RACE, "wait_for(k_bars.free(stage), parity);", ""),
    ("one group frees a stage for both", DEADLOCK, "k_bars.init(128, 2);", "k_bars.init(128, 1);"),
    ("half of the threads announce their copies", DEADLOCK, "v_bars.init(128, 2);", "v_bars.init(64, 2);"),
    ("copies are announced before they are there", RACE, "if (aligned)\n        arrive_after_copies(bar);\n      else\n        arrive(bar);",
     "arrive(bar);"),
    ("nobody has the first turn", DEADLOCK, "if (group == 2) your_turn();  // group 1 begins", ""),
    ("the last turn is not taken", "arrivals left", "if (group == 1) my_turn();  // takes the last turn that group 2 gave away", ""),
    ("both groups multiply the same rows", WRONG, "q(sq + (group - 1) * 64 * 128)", "q(sq)"),
    ("both groups store the same rows", WRONG, "row0 = (group - 1) * 64 + warp * 16;", "row0 = warp * 16;"),
    ("the scales of two rows are exchanged", WRONG, "o[e] *= scale[e / 2 % 2];", "o[e] *= scale[e % 2];"),
    ("the running sum of wgmma is not scaled", WRONG, "sum[h] = sum[h] * scale[h] + total;", "sum[h] = sum[h] + total;"),
    ("scores are added to those of the last tile", WRONG,
     "k.further(kk / 4 * BN * 128 + kk % 4 * 32), kk > 0);", "k.further(kk / 4 * BN * 128 + kk % 4 * 32), 1);"),
    ("every step multiplies the same values", WRONG, "add_product<T>(o, p + 4 * kk, v.further(kk * 16 * 128));",
     "add_product<T>(o, p + 4 * kk, v.further(0));"),
    ("keys are those of the next stage", RACE, "k(sk + stage * W::k_tile::bytes);", "k(sk + (stage + 1) % n_stages * W::k_tile::bytes);"),
)
plant(
    WGMMA_CAUSAL, "wgmma",
    ("the second plane of queries lies elsewhere", WRONG, "q.further(kk / 4 * BM * 128 + kk % 4 * 32)",
     "q.further(kk / 4 * 64 * 128 + kk % 4 * 32)"),
    ("the second plane of values lies elsewhere", WRONG, "v(sv + stage * W::v_tile::bytes, BN * 128);",
     "v(sv + stage * W::v_tile::bytes, 64 * 128);"),
)
plant(
    WGMMA_LARGE, "wgmma",
    ("results are not scaled when a maximum grows", WRONG, "if (W::headroom == 0 || any_of_warp(grown))",
     "if (W::headroom == 0 || any_of_warp(false))"),
)
plant(
    WGMMA_PRECISE, "wgmma",
    ("the second parts of weights are missing in wgmma", WRONG,
     "add_product<T>(o, rest + 4 * kk, v.further(kk * 16 * 128));", ";"),
)
# ---- warpgroups ---------------------------------------------------------------------------------
plant(
    WGMMA, "warpgroup",
    ("rows of operands lie closer together", WRONG, '"r"(64 | 1 << 30));', '"r"(32 | 1 << 30));'),
    ("operands have pieces in the order of 64 bytes", RACE, '"r"(64 | 1 << 30));', '"r"(64 | 2 << 30));'),
    ("rounds are not counted", DEADLOCK, "if (++stage == N) stage = 0, ++round;", "if (++stage == N) stage = 0;"),
    ("one barrier is both full and free", DEADLOCK, "return first + 8 * (N + stage); }", "return first + 8 * stage; }"),
    ("fences are those of other memory", FENCE, "fence.proxy.async.shared::cta;", "fence.acq_rel.cta;"),
    ("all products may be under way", RACE, '"wgmma.wait_group.sync.aligned %0;" ::"n"(N)',
     '"wgmma.wait_group.sync.aligned %0;" ::"n"(N + 1)'),
)
plant(
    WGMMA_CAUSAL, "warpgroup",
    ("planes across have no distance", WRONG, "low((at & 0x3ffff) >> 4 | leading >> 4 << 16) {}", "low((at & 0x3ffff) >> 4) {}"),
)
# ---- sums over pairs ----------------------------------------------------------------------------
plant(
    PAIRS_MMA, "pair_sums",
    ("keys of pairs are not waited for", RACE, "wait_for_copies<0>();  // these keys (and the rows) are there",
     "wait_for_copies<1>();"),
    ("no barrier before keys of pairs are overwritten", RACE,
     "wait_for_block();      // and all warps have finished reading the other stage", ""),
    ("numbers of keys are stored in the first stage", RACE, "of_key::store(values + stage * of_key::bytes,", "of_key::store(values,"),
    ("the second product is the first one", WRONG, "s[Spec::PRODUCTS - 1][m][x][e] : 0.f;", "s[0][m][x][e] : 0.f;"),
    ("rows past the end are stored", OUTSIDE, "        if (i >= rows) continue;\n", ""),
    ("the pairs of other rows decide whether a tile is whole", WRONG,
     "is_whole<Spec>(a, at, i0 + row0, i0 + row0 + MT * 16, j0, j0 + BN)", "is_whole<Spec>(a, at, i0, i0 + 1, j0, j0 + BN)"),
)
plant(
    PAIRS_MMA, "pairs",
    ("hidden pairs are summed up", WRONG, "set(s, visible ? w : 0.f);", "set(s, w);"),
    ("numbers of keys past the end are read", OUTSIDE,
     "const int j = largest(least(j0 + k, Spec::n_keys(a) - 1), 0);", "const int j = j0 + k;"),
    ("the tiles of two stages overlap", RACE, "keys_before<Tiles, K - 1>::value + Tiles::key_copies * Tiles::template keys<K - 1>::bytes;",
     "keys_before<Tiles, K - 1>::value + Tiles::template keys<K - 1>::bytes;"),
)
plant(
    PAIRS_F16, "pair_sums",
    ("sums keep their units", WRONG, "has_units && unit[m][h] != 0 ? 1 / unit[m][h] : 1.f", "1.f"),
    ("sums are not scaled when their units change", WRONG, "o[m][c][2 * h] *= scale, o[m][c][2 * h + 1] *= scale;", ";"),
)
plant(
    PAIRS_TF32, "pairs",
    ("second parts of rows overlap the next rows", RACE, "Tiles::row_parts * Tiles::template rows<P - 1>::bytes;",
     "Tiles::template rows<P - 1>::bytes;"),
)
plant(
    PAIRS_WGMMA, "pair_sums_wgmma",
    ("no fence after tiles of pairs have arrived", FENCE,
     "wait_for(bars.full(now.stage), now.round & 1);\n      publish();", "wait_for(bars.full(now.stage), now.round & 1);"),
    ("a stage is freed before its sums end", RACE, "wait_for_products<1>();\n        free_stage(before.stage);",
     "free_stage(before.stage);\n        wait_for_products<1>();"),
    ("tiles are waited for in the first round alone", RACE, "wait_for(bars.full(now.stage), now.round & 1);",
     "wait_for(bars.full(now.stage), now.round > 0);"),
    ("a tile counts as full before all threads have arrived", RACE, "arrivals = of_key::N > 0 ? 256 : 128;", "arrivals = 128;"),
    ("two neighbours of pairs are exchanged", WRONG, "rounded_pair<T>(low[decltype(s)::value], w);",
     "rounded_pair<T>(w, low[decltype(s)::value]);"),
    ("the second plane of keys lies elsewhere", RACE, "y.further(kk / 4 * BN * 128 + kk % 4 * 32)",
     "y.further(kk / 4 * BM * 128 + kk % 4 * 32)"),
    ("the rows of one group", WRONG, "x(first + W::template rows_offset<P> + (group - 1) * 64 * 128)",
     "x(first + W::template rows_offset<P>)"),
)
# ---- contractions -------------------------------------------------------------------------------
plant(
    PROJECT, "mma_contraction",
    ("a stage is not waited for", RACE, "wait_for_copies<stages - 2>();  // this stage is there", "wait_for_copies<stages - 1>();"),
    ("no barrier before a stage is overwritten", RACE,
     "wait_for_block();               // and all warps have finished reading the one before", ""),
    ("one stage too few", RACE, "place = place == (stages - 1) * C::stage_bytes ? 0", "place = place == (stages - 2) * C::stage_bytes ? 0"),
    ("a sum lacks eight rows", WRONG, "const int i = block.i0 + row + m * 16 + lane / 4 + h * 8;",
     "const int i = block.i0 + row + m * 16 + lane / 4;"),
    ("matrices of the left operand come in another order", WRONG, "left_tile::at(row + lane % 16, lane / 16);",
     "left_tile::at(row + lane % 8 + lane / 16 * 8, lane / 8 % 2);"),
    ("matrices of the right operand come in another order", WRONG,
     "right_tile::at(column + lane % 8 + lane / 16 * 8, lane / 8 % 2);", "right_tile::at(column + lane % 16, lane / 16);"),
)
plant(
    ACROSS, "mma_contraction",
    ("a left operand that lies across is not transposed", WRONG,
     "load_matrices<true>(r, left_tile::further(of_lane, step * 16, 2 * m));",
     "load_matrices<false>(r, left_tile::further(of_lane, step * 16, 2 * m));"),
    ("a right operand that lies across is not transposed", WRONG,
     "load_matrices<true>(r, right_tile::further(of_lane, step * 16, 2 * x));",
     "load_matrices<false>(r, right_tile::further(of_lane, step * 16, 2 * x));"),
)
plant(
    dataclasses.replace(ACROSS, rows=5000), "mma_contraction",
    ("sums of a contraction never begin anew", WRONG, "add_products(part, left, right, k);", "add_products(s, left, right, k);"),
)
plant(
    PROJECT, "contraction",
    ("the depth past its end is copied", WRONG, "if (whole && left >= DEPTH) {", "if (whole) {"),
    ("missing rows are copied", OUTSIDE, "n = r < rows ? least(largest(columns - c, 0), Tile::in_piece) : 0;",
     "n = least(largest(columns - c, 0), Tile::in_piece);"),
    ("columns past the last one are stored", WRONG, "whole(pairs && block.j0 + Spec::BN <= columns) {}", "whole(pairs) {}"),
    ("the last stage is not computed", WRONG, "((Spec::depth(a) + Spec::DEPTH - 1) / Spec::DEPTH);",
     "(Spec::depth(a) / Spec::DEPTH);"),
)
plant(
    ODD, "contraction",
    ("the first chunk is read again", WRONG, "k0_ = 0, ++chunk_;", "k0_ = 0;"),
    ("an odd column has a neighbour", WRONG, "const bool both = column + 1 < columns;", "const bool both = true;"),
)
plant(
    ACROSS_WGMMA, "wgmma_contraction",
    ("no fence after a stage has arrived", FENCE,
     "wait_for(bars.full(now.stage), now.round & 1);\n    publish();", "wait_for(bars.full(now.stage), now.round & 1);"),
    ("a stage is freed while its products run", DEADLOCK, "arrive(bars.free(before.stage));", "arrive(bars.free(now.stage));"),
    ("a stage is not waited for by wgmma", WRONG, "wait_for(bars.full(now.stage), now.round & 1);", ""),
    ("copies never wait for a free stage of a contraction", RACE, "wait_for(bars.free(now.stage), (now.round & 1) ^ 1);", ""),
    ("a stage is full when half of the threads have arrived", WRONG, "bars.init(2 * copying, 2);", "bars.init(copying, 2);"),
    ("the planes of the right operand lie elsewhere", WRONG, "Spec::right_by_depth ? 0 : DEPTH * 128);", "0);"),
    ("steps along the depth lie across", WRONG, "left.further(k * (Spec::left_by_depth ? 32 : 16 * 128))", "left.further(k * 32)"),
    ("both groups have the same rows", WRONG,
     "row0 = block.i0 + (group - 1) * 64 + thread / 32 * 16", "row0 = block.i0 + thread / 32 * 16"),
    ("sums are stored in exchanged columns", WRONG, "block.j0 + x * 8 + lane % 4 * 2, sums", "block.j0 + x * 8 + (lane % 4 ^ 1) * 2, sums"),
)
plant(
    COLUMNS_WGMMA, "wgmma_contraction",
    ("every second step along the depth is skipped", WRONG, "left.further(k * (Spec::left_by_depth ? 32 :",
     "left.further(k * (Spec::left_by_depth ? 64 :"),
)

HARMLESS = []


def change(reason, run, file, name, text, instead):
    HARMLESS.append(Mistake(name, file + ".cuh", run, "", text, instead, reason))


change("The groups of copies after the last tile are empty.", MMA, "warps", "no wait for copies after the last tile",
       "  wait_for_copies<0>();\n\n  if constexpr (Spec::SPLITS)", "  if constexpr (Spec::SPLITS)")
change("Only blocks of the same cluster need it; wait_for_block orders the initialisation within one block.", WGMMA, "wgmma",
       "barriers are not published to other blocks", "    publish_barriers();\n", "")
change("The block lives until its other groups have waited for all copies through their barriers.", WGMMA, "wgmma",
       "the copying group ends without waiting", "    wait_for_all_copies();  // none may be under way when the thread ends\n", "")
change("The values of the tile before are freed later, and the copying group waits for these first.", WGMMA, "wgmma",
       "later keys are freed before their products end",
       "wait_for_products<1>();\n      pin(s);\n      if (thread == 0) arrive(k_bars.free(now.stage));",
       "if (thread == 0) arrive(k_bars.free(now.stage));\n      wait_for_products<1>();\n      pin(s);")
change("Copies and products agree on the stages that they use.", WGMMA, "warpgroup", "one stage is never used",
       "if (++stage == N) stage = 0, ++round;", "if (++stage == N - 1) stage = 0, ++round;")
