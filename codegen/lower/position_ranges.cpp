#include "codegen/lower/position_ranges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "codegen/program/bounds.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

Expr constant(std::int64_t x) { return hi::make_const(Halide::Int(64), x); }

Expr lowest() { return constant(std::numeric_limits<std::int32_t>::min()); }
Expr highest() { return constant(std::numeric_limits<std::int32_t>::max()); }

// Numbers from low to high in this call, of 64 bits.
struct range {
  Expr low, high;
};

range only(const Expr &x) { return {x, x}; }

range sum(const range &a, const range &b) { return {a.low + b.low, a.high + b.high}; }

range negative(const range &a) { return {-a.high, -a.low}; }

range hull(const range &a, const range &b) {
  return {Halide::min(a.low, b.low), Halide::max(a.high, b.high)};
}

range smaller(const range &a, const range &b) {
  return {Halide::min(a.low, b.low), Halide::min(a.high, b.high)};
}

range larger(const range &a, const range &b) {
  return {Halide::max(a.low, b.low), Halide::max(a.high, b.high)};
}

range magnitude(const range &a) {
  return {constant(0), Halide::max(Halide::max(a.high, -a.low), constant(0))};
}

class ranges {
 public:
  explicit ranges(const context &c) : c_(c), bounds_(bounds_of_positions(c.p)) {}

  std::vector<within_i32> run() {
    for (node_id n = 0; n < static_cast<node_id>(c_.p.nodes.size()); ++n) {
      const bool known = c_.p[n].type == i32 && bounds_[n];
      all_.push_back(known ? kept(n, of(c_.p[n])) : range());
    }
    return std::move(required_);
  }

 private:
  range of(const node &n) const {
    const auto in = [&](std::size_t k) { return all_[n.in[k]]; };
    switch (n.kind) {
      case op::number:
        return only(constant(static_cast<std::int64_t>(n.value)));
      case op::index:
        return {constant(0), Halide::cast<std::int64_t>(c_.extent(n.over[0])) - 1};
      case op::size:
        return only(Halide::cast<std::int64_t>(c_.size(n.over[0])));
      case op::cast:
        if (c_.p[n.in[0]].type == i32) return in(0);
        return static_bounds(n);
      case op::neg:
        return negative(in(0));
      case op::abs:
        return magnitude(in(0));
      case op::relu:
        return larger(in(0), only(constant(0)));
      case op::add:
        return sum(in(0), in(1));
      case op::sub:
        return sum(in(0), negative(in(1)));
      case op::mul:
        return product(n);
      case op::min:
        return smaller(in(0), in(1));
      case op::max:
        return larger(in(0), in(1));
      case op::where:
        return hull(in(1), in(2));
      case op::concat:
        return hull(in(0), in(1));
      case op::take:  // 0 of an empty table
        return hull(in(0), only(constant(0)));
      default:  // views
        return in(0);
    }
  }

  // Of factors that may be negative, as wide as their magnitudes allow: every bound is then written
  // once, and a product of products does not grow exponentially.
  range product(const node &n) const {
    const range &a = all_[n.in[0]], &b = all_[n.in[1]];
    if (bounds_[n.in[0]]->least >= 0 && bounds_[n.in[1]]->least >= 0)
      return {a.low * b.low, a.high * b.high};
    const Expr high = magnitude(a).high * magnitude(b).high;
    return {-high, high};
  }

  range static_bounds(const node &n) const {
    const bounds &b = *bounds_[&n - c_.p.nodes.data()];
    return {constant(static_cast<std::int64_t>(b.least)),
            constant(static_cast<std::int64_t>(b.most))};
  }

  // The range, required to be one of i32.
  range kept(node_id n, range r) {
    if (fits_i32(*bounds_[n])) return r;
    r = {hi::simplify(r.low), hi::simplify(r.high)};
    required_.push_back({n, hi::simplify(r.low >= lowest() && r.high <= highest())});
    return {Halide::clamp(r.low, lowest(), highest()), Halide::clamp(r.high, lowest(), highest())};
  }

  const context &c_;
  const std::vector<std::optional<bounds>> bounds_;
  std::vector<range> all_;  // of the steps of i32 that have bounds
  std::vector<within_i32> required_;
};

}  // namespace

std::vector<within_i32> requirements_of_positions(const context &c) { return ranges(c).run(); }

}  // namespace qkv::codegen
