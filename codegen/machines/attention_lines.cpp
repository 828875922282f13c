// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/attention_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

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
