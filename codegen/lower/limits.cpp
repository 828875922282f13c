#include "codegen/lower/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

}  // namespace

void limits::stored(node_id n, const std::vector<axis_id> &axes) {
  const program &p = c_.p;
  // Capped after each factor: a product of two numbers of 32 bits fits 64.
  std::int64_t known = halide_type(p[n].type).bytes();
  Expr bytes = Halide::Internal::make_const(Halide::Int(64), known);
  bool at_call = false;
  for (axis_id a : axes) {
    const std::int64_t size = p.axes[p.axes[a].root].size;
    known = std::min(known * std::max<std::int64_t>(1, size), most + 1);
    bytes = Halide::min(bytes * Halide::cast<std::int64_t>(c_.extent(a)),
                        Halide::Internal::make_const(Halide::Int(64), most + 1));
    at_call |= size < 0;
  }
  const std::string text =
      fmt::format("{}{} needs more than {} bytes", label_of(p, n), shape_of(p, p[n].shape), most);
  if (known > most) throw std::runtime_error(p.name + ": " + text);
  if (at_call) all_.push_back({bytes <= Halide::Internal::make_const(Halide::Int(64), most), text});
}

void limits::add_to(Halide::Pipeline &pipeline) const {
  for (const limit &l : all_) pipeline.add_requirement(l.fits, "too_large: " + l.text);
}

}  // namespace qkv::codegen
