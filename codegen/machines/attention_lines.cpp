// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/attention_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/machines/halide_target.hpp"

namespace qkv::codegen {
namespace {

std::string text_of_rows(std::int64_t rows) {
  return rows == attention_shape::any    ? "any"
         : rows == attention_shape::none ? "none"
                                         : std::to_string(rows);
}

}  // namespace

std::string misplaced(const std::vector<attention_shape> &before, const attention_shape &s) {
  if (before.empty()) return "";
  const std::int64_t last = before.back().rows_of_query, rows = s.rows_of_query;
  const bool rises =
      last == attention_shape::any ? rows == last : rows == attention_shape::any || rows >= last;
  return rises
             ? ""
             : fmt::format("rows {} after rows {}: lines of attention are in rising order of rows",
                           text_of_rows(rows), text_of_rows(last));
}

std::string oversized(const attention_shape &s) {
  const bool fits = s.rows_of_query > 0 && s.rows_of_query <= s.rows;
  return !s.one_block || fits
             ? ""
             : fmt::format("one_block: a tile of {} rows cannot have rows {} of a call", s.rows,
                           text_of_rows(s.rows_of_query));
}

std::string misfit_in_matrix(const attention_shape &s) {
  if (s.rows_of_query == attention_shape::none)
    return "rows none: a tile of a CPU is for some rows";
  const auto misses = [](int n, const char *what, int of) {
    return fmt::format("{} {} are not a multiple of {}, as those of matrix tiles are", n, what, of);
  };
  if (s.rows % matrix_side != 0) return misses(s.rows, "rows", matrix_side);
  return s.keys % matrix_depth == 0 ? "" : misses(s.keys, "keys", matrix_depth);
}

std::string missing_matrix_unit(const machine &m) {
  if (!m.of_bf16.has_matrix_unit()) return "";
  const Halide::Target target = halide_target(m);
  if (!m.is_host() || target.os != Halide::Target::Linux || m.cpu.register_bits != 512)
    return "matrix_attention: a CPU under Linux is expected, with registers of 512 bits";
  if (!target.has_feature(Halide::Target::AVX512_SapphireRapids))
    return "matrix_attention: halide does not name avx512_sapphirerapids, which has matrix tiles";
  return m.of_bf16.matrix_attention.back().rows_of_query == attention_shape::any
             ? ""
             : "a line of matrix_attention is missing: rows any";
}

// Also those of many rows without contiguous features and, on devices, those of queries without
// rows.
std::string missing_tiles(const machine &m) {
  const auto has_line = [&](std::int64_t rows) {
    return std::ranges::any_of(m.attention, [&](const attention_shape &s) {
      return s.rows_of_query == rows && !s.keys_in_lanes && !s.one_block;
    });
  };
  if (!has_line(attention_shape::any))
    return fmt::format("a line of attention is missing: rows any{}",
                       m.is_host() ? " with rows in lanes" : "");
  return m.is_host() || has_line(attention_shape::none)
             ? ""
             : "a line of attention is missing: rows none";
}

}  // namespace qkv::codegen
