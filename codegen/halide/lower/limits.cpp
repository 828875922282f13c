// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "codegen/halide/lower/position_ranges.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

}  // namespace

void limits::stored(node_id n, const std::vector<axis_id> &axes) {
  stored(label_of(c_.p, n) + shape_of(c_.p, c_.p[n].shape), c_.p[n].type, {axes}, {});
}

void limits::stored(const std::string &what, dtype type,
                    const std::vector<std::vector<axis_id>> &blocks,
                    const std::vector<axis_id> &around) {
  require(halide_type(type).bytes(), blocks, around,
          fmt::format("{} needs more than {} bytes", what, most));
}

void limits::counted(const std::string &what, const std::vector<axis_id> &axes) {
  require(1, {axes}, {}, fmt::format("{} needs more than {} iterations", what, most));
}

void limits::computed() {
  for (const auto &[step, holds] : requirements_of_positions(c_))
    if (!Halide::Internal::is_const_one(holds))
      all_.push_back({holds, label_of(c_.p, step) + " is beyond the range of i32"});
}

void limits::require(std::int64_t each, const std::vector<std::vector<axis_id>> &blocks,
                     const std::vector<axis_id> &around, const std::string &text) {
  const program &p = c_.p;
  const auto constant = [](std::int64_t x) {
    return Halide::Internal::make_const(Halide::Int(64), x);
  };
  std::int64_t known = 0;
  Expr units = constant(0);
  bool at_call = false;
  for (std::vector<axis_id> axes : blocks) {
    axes.insert(axes.end(), around.begin(), around.end());
    // Capped after each factor: the product of two 32-bit numbers fits 64 bits.
    std::int64_t block = each;
    Expr of_call = constant(block);
    for (axis_id a : axes) {
      const std::int64_t size = static_size(p, a);
      block = std::min(block * std::max<std::int64_t>(1, size), most + 1);
      of_call = Halide::min(of_call * Halide::cast<std::int64_t>(c_.extent(a)), constant(most + 1));
      at_call |= size < 0;
    }
    known += block;
    units = units + of_call;
  }
  if (known > most) throw std::runtime_error(p.name + ": " + text);
  if (at_call) all_.push_back({Halide::Internal::simplify(units) <= constant(most), text});
}

void limits::add_to(Halide::Pipeline &pipeline) const {
  for (const limit &l : all_) pipeline.add_requirement(l.fits, "too_large: " + l.text);
}

}  // namespace qkv::codegen
