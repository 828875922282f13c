#include "codegen/lower/position_ranges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
// No call has a longer axis; runtime/check.cpp refuses it.
constexpr std::int64_t longest = highest + 1 - 4096;

Expr constant(std::int64_t x) { return hi::make_const(Halide::Int(64), x); }

// Numbers from low to high in this call, and from least to most in every call.
struct range {
  Expr low, high;
  std::int64_t least, most;
};

range only(std::int64_t x) { return {constant(x), constant(x), x, x}; }

range sum(const range &a, const range &b) {
  return {a.low + b.low, a.high + b.high, a.least + b.least, a.most + b.most};
}

range negative(const range &a) { return {-a.high, -a.low, -a.most, -a.least}; }

range hull(const range &a, const range &b) {
  return {Halide::min(a.low, b.low), Halide::max(a.high, b.high), std::min(a.least, b.least),
          std::max(a.most, b.most)};
}

range smaller(const range &a, const range &b) {
  return {Halide::min(a.low, b.low), Halide::min(a.high, b.high), std::min(a.least, b.least),
          std::min(a.most, b.most)};
}

range larger(const range &a, const range &b) {
  return {Halide::max(a.low, b.low), Halide::max(a.high, b.high), std::max(a.least, b.least),
          std::max(a.most, b.most)};
}

range magnitude(const range &a) { return larger(larger(a, negative(a)), only(0)); }

// Of factors that may be negative, as wide as their magnitudes allow: every bound is then written
// once, and a product of products does not grow exponentially.
range product(const range &a, const range &b) {
  if (a.least >= 0 && b.least >= 0)
    return {a.low * b.low, a.high * b.high, a.least * b.least, a.most * b.most};
  const range x = magnitude(a), y = magnitude(b);
  const Expr high = x.high * y.high;
  return {-high, high, -x.most * y.most, x.most * y.most};
}

class ranges {
 public:
  explicit ranges(const context &c) : c_(c) {}

  std::vector<within_i32> run() {
    for (node_id n = 0; n < static_cast<node_id>(c_.p.nodes.size()); ++n) {
      fixed_.push_back(is_fixed(c_.p[n]));
      known_.push_back(of(n));
    }
    return std::move(all_);
  }

 private:
  // Nothing read from memory has a part in it.
  bool is_fixed(const node &n) const {
    switch (n.kind) {
      case op::input:
      case op::param:
      case op::uniform:
      case op::carried:
        return false;
      case op::number:
      case op::index:
      case op::size:
        return true;
      case op::element:  // the other operand says of which scan
        return fixed_[n.in[0]];
      default:
        break;
    }
    if (!is_pointwise(n.kind) && !is_view(n.kind) && !is_gather(n.kind) && n.kind != op::mask)
      return false;
    return std::all_of(n.in.begin(), n.in.end(), [&](node_id m) { return fixed_[m]; });
  }

  std::int64_t static_size(axis_id a) const { return c_.p.axes[c_.p.axes[a].root].size; }

  range size_of(axis_id a) const {
    if (const std::int64_t size = static_size(a); size >= 0) return only(size);
    const Expr size = Halide::cast<std::int64_t>(c_.size(a));
    return {size, size, 0, longest};
  }

  range positions_of(axis_id a) const {
    const std::int64_t size = static_size(a);
    const Expr last = Halide::cast<std::int64_t>(c_.extent(a)) - 1;
    return {constant(0), hi::simplify(last), 0,
            size >= 0 ? std::max<std::int64_t>(size, 1) - 1 : longest - 1};
  }

  std::optional<range> of(node_id n) {
    const node &x = c_.p[n];
    if (x.type != i32 || !fixed_[n]) return std::nullopt;
    if (x.kind == op::number) return only(static_cast<std::int64_t>(x.value));
    if (x.kind == op::index) return positions_of(x.over[0]);
    if (x.kind == op::size) return size_of(x.over[0]);
    if (x.kind == op::cast && c_.p[x.in[0]].type == b8)
      return range{constant(0), constant(1), 0, 1};
    const bool of_choice = x.kind == op::where;
    const std::optional<range> &a = known_[x.in[of_choice ? 1 : 0]];
    if (!a) return std::nullopt;
    if (is_view(x.kind) || x.kind == op::mask || x.kind == op::cast) return a;
    if (x.kind == op::take) return hull(*a, only(0));  // 0 of an empty table
    if (x.kind == op::neg) return kept(n, negative(*a));
    if (x.kind == op::abs) return kept(n, magnitude(*a));
    if (x.kind == op::relu) return larger(*a, only(0));
    if (x.in.size() < 2) return std::nullopt;
    const std::optional<range> &b = known_[x.in[of_choice ? 2 : 1]];
    if (!b) return std::nullopt;
    switch (x.kind) {
      case op::add:
        return kept(n, sum(*a, *b));
      case op::sub:
        return kept(n, sum(*a, negative(*b)));
      case op::mul:
        return kept(n, product(*a, *b));
      case op::min:
        return smaller(*a, *b);
      case op::max:
        return larger(*a, *b);
      case op::where:
      case op::concat:
        return hull(*a, *b);
      default:
        return std::nullopt;
    }
  }

  // The range, required to be one of i32.
  range kept(node_id n, range r) {
    if (r.least >= lowest && r.most <= highest) return r;
    r.low = hi::simplify(r.low);
    r.high = hi::simplify(r.high);
    all_.push_back({n, hi::simplify(r.low >= constant(lowest) && r.high <= constant(highest))});
    return {Halide::clamp(r.low, constant(lowest), constant(highest)),
            Halide::clamp(r.high, constant(lowest), constant(highest)), std::max(r.least, lowest),
            std::min(r.most, highest)};
  }

  const context &c_;
  std::vector<bool> fixed_;
  std::vector<std::optional<range>> known_;  // of the steps of i32 that positions alone decide
  std::vector<within_i32> all_;
};

}  // namespace

std::vector<within_i32> requirements_of_positions(const context &c) { return ranges(c).run(); }

}  // namespace qkv::codegen
