// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/position_ranges.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "codegen/program/bounds.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

Expr long_number(std::int64_t x) { return hi::make_const(Halide::Int(64), x); }

// Numbers from low to high in this call, of 64 bits.
struct range {
  Expr low, high;
};

range hull(const range &a, const range &b) {
  return {Halide::min(a.low, b.low), Halide::max(a.high, b.high)};
}

class position_ranges {
 public:
  explicit position_ranges(const context &c) : c_(c) {}

  std::vector<position_requirement> run() {
    for (node_id n = 0; n < static_cast<node_id>(c_.p.nodes.size()); ++n)
      all_.push_back(c_.whole.known[n] ? checked(n, of(n)) : range());
    return std::move(required_);
  }

 private:
  range of(node_id id) const {
    const node &n = c_.p[id];
    if (is_position_in_whole(c_.p, n)) return of_bounds(id);
    const auto in = [&](std::size_t k) { return all_[n.in[k]]; };
    switch (n.kind) {
      case op::index:
        return {long_number(0), Halide::cast<std::int64_t>(c_.extent(n.over[0])) - 1};
      case op::size: {
        const Expr size = Halide::cast<std::int64_t>(c_.size(n.over[0]));
        return {size, size};
      }
      case op::neg:
        return {-in(0).high, -in(0).low};
      case op::abs:
        return {long_number(0), Halide::max(in(0).high, -in(0).low)};
      case op::add:
        return {in(0).low + in(1).low, in(0).high + in(1).high};
      case op::sub:
        return {in(0).low - in(1).high, in(0).high - in(1).low};
      case op::min:
        return {Halide::min(in(0).low, in(1).low), Halide::min(in(0).high, in(1).high)};
      case op::max:
        return {Halide::max(in(0).low, in(1).low), Halide::max(in(0).high, in(1).high)};
      case op::where:
        return hull(in(1), in(2));
      case op::concat:
        return hull(in(0), in(1));
      case op::take:  // 0 of an empty table
        return hull(in(0), {long_number(0), long_number(0)});
      case op::mask:
        return in(0);
      default:
        break;
    }
    return is_view(n.kind) ? in(0) : of_bounds(id);
  }

  range of_bounds(node_id id) const {
    const bounds &b = *c_.whole.known[id];
    return {long_number(b.least), long_number(b.most)};
  }

  // Adds the requirement of a guarded step, and clamps the range to what the requirement leaves.
  range checked(node_id n, const range &exact) {
    if (!c_.whole.guarded[n]) return exact;
    const Expr lowest = long_number(std::numeric_limits<std::int32_t>::min()),
               highest = long_number(std::numeric_limits<std::int32_t>::max());
    const range r = {hi::simplify(exact.low), hi::simplify(exact.high)};
    required_.push_back({n, hi::simplify(r.low >= lowest && r.high <= highest)});
    return {Halide::max(r.low, lowest), Halide::min(r.high, highest)};
  }

  const context &c_;
  std::vector<range> all_;  // of the steps with bounds
  std::vector<position_requirement> required_;
};

}  // namespace

std::vector<position_requirement> requirements_of_positions(const context &c) {
  return position_ranges(c).run();
}

}  // namespace qkv::codegen
