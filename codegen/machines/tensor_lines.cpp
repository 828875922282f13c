// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/tensor_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace qkv::codegen {

std::string excess_threads(std::int64_t of_block) {
  return of_block <= most_threads ? ""
                                  : fmt::format("{} threads do not fit into a block of at most {}",
                                                of_block, most_threads);
}

namespace {

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

std::string kind_of_cores(machine_line &line) {
  std::string kind = line.next();
  if (kind != "mma" && kind != "wgmma" && kind != "tf32")
    line.fail("{} is not a kind of tensor cores; known: mma wgmma tf32", kind);
  return kind;
}

// sm_80; sm_90a where it is of one capability alone
void capability(machine_line &line, int &n, bool &exact) {
  const std::string word = line.next();
  std::string_view target = word;
  if (target.ends_with('a')) exact = true, target.remove_suffix(1);
  const std::string_view digits = target.starts_with("sm_") ? target.substr(3) : "";
  const char *last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, n);
  if (error != std::errc() || end != last) line.fail("{} is not a target like sm_80", word);
}

void check(const machine_line &line, const std::string &wrong) {
  if (!wrong.empty()) line.fail("{}", wrong);
}

}  // namespace

contraction_tile read_contraction_tile(machine_line &line) {
  contraction_tile t;
  t.kind = kind_of_cores(line);
  capability(line, t.capability, t.exact);
  line.two_numbers("tile", t.rows, t.columns);
  line.word("depth");
  t.depth = line.number();
  line.two_numbers("warps", t.row_warps, t.column_warps);
  line.word("stages");
  t.stages = line.number();
  const std::map<std::string, int *> limits = {
      {"columns", &t.most_columns}, {"rows", &t.most_rows}, {"fills", &t.fills}};
  while (line.has_more()) {
    const std::string of = line.next();
    const auto limit = limits.find(of);
    if (limit == limits.end()) line.fail("columns, rows or fills is expected, not {}", of);
    *limit->second = line.number();
  }
  check(line, misfit(t));
  return t;
}

tensor_tile read_tensor_tile(machine_line &line, const std::vector<int> &keys_of_wgmma) {
  tensor_tile t;
  t.skeleton = kind_of_cores(line);
  capability(line, t.capability, t.exact);
  line.word("features");
  t.features = line.number();
  line.two_numbers("tile", t.rows, t.keys);
  line.word("warps");
  t.warps = line.number();
  if (line.has_more()) {
    line.word("rows");
    t.most_rows = line.number();
    line.word("blocks");
    t.blocks = line.number();
  }
  check(line, misfit(t, keys_of_wgmma));
  return t;
}

}  // namespace qkv::codegen
