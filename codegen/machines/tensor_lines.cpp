// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/tensor_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace qkv::codegen {

std::string excess_threads(std::int64_t of_block) {
  return of_block <= most_threads ? ""
                                  : fmt::format("{} threads do not fit into a block of at most {}",
                                                of_block, most_threads);
}

std::string misfit(const contraction_tile &t) {
  const bool divides =
      t.kind == "wgmma"
          ? t.rows == 128 && t.row_warps == 8 && t.column_warps == 1 &&
                (t.columns == 128 || t.columns == 256)
          : t.rows % (t.row_warps * 16) == 0 && t.columns % (t.column_warps * 16) == 0;
  if (!divides)
    return fmt::format("a tile of {} x {} cannot be divided among {} x {} warps", t.rows, t.columns,
                       t.row_warps, t.column_warps);
  if (std::string wrong = excess_threads(t.threads()); !wrong.empty()) return wrong;
  if (t.depth * t.element_bytes() != shared_row_bytes || t.stages < 2)
    return fmt::format("a tile needs two stages or more of {} bytes of depth", shared_row_bytes);
  for (const int n : {t.rows, t.columns})
    if (!t.threads_share(n))
      return fmt::format("{} threads cannot share the copies of {} rows or columns",
                         t.copying_threads(), n);
  return "";
}

std::string misfit(const tensor_tile &t, const std::vector<int> &keys_of_wgmma) {
  if (t.most_rows > 0 && t.skeleton == "wgmma") return "wgmma has no tiles for few rows";
  if (t.most_rows > t.rows)
    return fmt::format("a tile of {} rows cannot have the {} rows of a call", t.rows, t.most_rows);
  const bool fits = t.skeleton == "wgmma"
                        ? t.rows == 128 && std::ranges::count(keys_of_wgmma, t.keys) &&
                              t.warps == 12 && t.features <= 128
                        : t.rows % (16 * t.warps) == 0 && t.keys % 16 == 0;
  if (!fits)
    return fmt::format("a tile of {} x {} with {} features cannot be divided among {} warps of {}",
                       t.rows, t.keys, t.features, t.warps, t.skeleton);
  return excess_threads(t.threads());
}

}  // namespace qkv::codegen
