// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/machine.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>

namespace qkv::codegen {
namespace {

// Bytes that so many numbers side by side take in shared memory.
int row_bytes(int n, int bytes) {
  return (n * bytes + shared_row_bytes - 1) / shared_row_bytes * shared_row_bytes;
}
constexpr int barriers = 128;  // bytes, of all those of a block

// For heads of at most so many features: the fewest of each capability.
std::vector<tensor_tile> fewest_features(const std::vector<tensor_tile> &tiles, int features,
                                         bool of_16_bits) {
  using kind = std::pair<bool, int>;  // for any rows; capability, the newest first
  std::map<kind, std::vector<tensor_tile>> best;
  for (const tensor_tile &t : tiles) {
    if (features > t.features || t.is_of_16_bits() != of_16_bits) continue;
    std::vector<tensor_tile> &known = best[{t.most_rows == 0, -t.capability}];
    if (!known.empty() && t.features < known[0].features) known.clear();
    if (known.empty() || t.features == known[0].features) known.push_back(t);
  }
  std::vector<tensor_tile> all;
  for (const auto &[k, of_kind] : best) all.insert(all.end(), of_kind.begin(), of_kind.end());
  return all;
}

std::string target_of(int capability, bool exact) {
  return fmt::format("sm_{}{}", capability, exact ? "a" : "");
}

}  // namespace

std::string machine::c_name() const {
  std::string text = name;
  for (char &c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

bool machine::has_masked_loads(int bits) const {
  return target.find(bits < 32 ? "-avx512_skylake" : "-avx2") != target.npos;
}

bool machine::has_tiles_of(const machine &other) const {
  return cpu == other.cpu && attention == other.attention && panels == other.panels &&
         contraction_rows == other.contraction_rows;
}

std::vector<attention_shape> machine::shapes_for(std::int64_t rows) const {
  const auto fits = [&](const attention_shape &s) {
    return s.rows_of_query == attention_shape::any ||
           (s.rows_of_query == attention_shape::none ? rows == attention_shape::none
                                                     : rows > 0 && rows <= s.rows_of_query);
  };
  std::vector<attention_shape> all;
  for (const attention_shape &s : attention)
    if (all.empty() ? fits(s) : s.rows_of_query == all[0].rows_of_query) all.push_back(s);
  return all;
}

int tensor_tile::shared_bytes(int of_features, int of_columns) const {
  // Numbers of f32 lie there in two parts: queries, and what several warps read.
  const bool in_parts = skeleton == "tf32";
  const int bytes = is_of_16_bits() ? 2 : 4,
            stages = skeleton == "wgmma" || (in_parts && warps > 1) ? 3 : 2;
  const auto row = [&](int n) { return row_bytes(n, bytes); };
  return barriers + (in_parts ? 2 : 1) * rows * row(of_features) +
         stages * keys * (row(of_features) + row(of_columns));
}

int tensor_tile::shared_bytes(const std::vector<int> &of_rows,
                              const std::vector<int> &of_keys) const {
  const bool in_parts = skeleton == "tf32";
  const auto width = [&](const std::vector<int> &all) {
    int sum = 0;
    for (const int n : all) sum += row_bytes(n, is_of_16_bits() ? 2 : 4);
    return sum;
  };
  return barriers + (in_parts ? 2 : 1) * rows * width(of_rows) +
         (in_parts && warps > 1 ? 3 : 2) * keys * width(of_keys);
}

int contraction_tile::shared_bytes(bool left_by_depth, bool right_by_depth) const {
  const auto operand = [&](int n, bool by_depth) {
    return by_depth ? n * shared_row_bytes : depth * row_bytes(n, element_bytes());
  };
  return (has_copying_warps() ? barriers : 0) +
         stages * (operand(rows, left_by_depth) + operand(columns, right_by_depth));
}

bool contraction_tile::threads_share(int n) const {
  const auto rows_divide = [&](int row, int rows) {
    const int pieces = row / 16;
    return copying_threads() % pieces == 0 && rows % (copying_threads() / pieces) == 0;
  };
  return rows_divide(shared_row_bytes, n) && rows_divide(row_bytes(n, element_bytes()), depth);
}

std::string tensor_tile::name() const { return fmt::format("{} {} x {}", skeleton, rows, keys); }

std::string contraction_tile::name() const {
  return fmt::format("{} {} x {}", kind, rows, columns);
}

std::string contraction_tile::target() const { return target_of(capability, exact); }

std::string tensor_tile::target() const { return target_of(capability, exact); }

std::vector<tensor_tile> machine::tensor_tiles_for(int features, int columns,
                                                   bool of_16_bits) const {
  return fewest_features(tensor, std::max(features, columns), of_16_bits);
}

std::vector<tensor_tile> machine::pair_sums_tiles_for(int columns, bool of_16_bits) const {
  return fewest_features(tensor_pair_sums, columns, of_16_bits);
}

std::vector<contraction_tile> machine::contraction_tiles_for(std::int64_t rows,
                                                             std::int64_t columns, bool of_16_bits,
                                                             bool precise) const {
  const auto is_for = [](std::int64_t n, int most) { return n >= 0 && n <= most; };
  using kind = std::pair<bool, int>;  // for any rows; capability, the newest first
  std::map<kind, std::vector<contraction_tile>> best;
  bool known_few = false;
  for (const contraction_tile &t : tensor_contraction) {
    if (t.is_of_16_bits() != of_16_bits || (precise && t.kind == "wgmma")) continue;
    if (t.most_columns > 0 && !is_for(columns, t.most_columns)) continue;
    if (t.most_rows > 0 && rows > t.most_rows) continue;
    known_few = known_few || is_for(rows, t.most_rows);
    std::vector<contraction_tile> &known = best[{t.most_rows == 0, -t.capability}];
    // Tiles for few columns take the place of those for any.
    if (!known.empty() && known[0].most_columns == 0 && t.most_columns > 0) known.clear();
    if (known.empty() || known[0].most_columns == t.most_columns) known.push_back(t);
  }
  std::vector<contraction_tile> all;
  for (const auto &[k, tiles] : best)
    for (const contraction_tile &t : tiles)
      if (!known_few || t.most_rows > 0) all.push_back(t);
  return all;
}

}  // namespace qkv::codegen
