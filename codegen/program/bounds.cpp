#include "codegen/program/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using known = std::optional<bounds>;

constexpr double lowest = std::numeric_limits<std::int32_t>::min();
constexpr double highest = std::numeric_limits<std::int32_t>::max();

known hull(const bounds &a, const bounds &b) {
  return bounds{std::min(a.least, b.least), std::max(a.most, b.most)};
}

known hull_of(std::initializer_list<double> ends) { return bounds{std::min(ends), std::max(ends)}; }

// Of a function that does not decrease.
template <class Function>
known rising(const bounds &a, Function f) {
  return bounds{f(a.least), f(a.most)};
}

known of_one(op kind, const bounds &a) {
  switch (kind) {
    case op::neg:
      return bounds{-a.most, -a.least};
    case op::abs:
      return bounds{std::max({0., a.least, -a.most}), std::max(-a.least, a.most)};
    case op::relu:
      return rising(a, [](double x) { return std::max(x, 0.); });
    case op::exp:
      return rising(a, [](double x) { return std::exp(x); });
    case op::log:
      return a.least > 0 ? rising(a, [](double x) { return std::log(x); }) : known();
    case op::sqrt:
      return a.least >= 0 ? rising(a, [](double x) { return std::sqrt(x); }) : known();
    case op::tanh:
    case op::erf:
    case op::cos:
    case op::sin:
      return bounds{-1, 1};
    case op::sigmoid:
      return bounds{0, 1};
    default:
      return std::nullopt;
  }
}

known of_two(op kind, const bounds &a, const bounds &b) {
  switch (kind) {
    case op::add:
      return bounds{a.least + b.least, a.most + b.most};
    case op::sub:
      return bounds{a.least - b.most, a.most - b.least};
    case op::mul:
      return hull_of({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
    case op::div:
      if (b.least <= 0 && b.most >= 0) return std::nullopt;
      return hull_of({a.least / b.least, a.least / b.most, a.most / b.least, a.most / b.most});
    case op::min:
      return bounds{std::min(a.least, b.least), std::min(a.most, b.most)};
    case op::max:
      return bounds{std::max(a.least, b.least), std::max(a.most, b.most)};
    default:
      return std::nullopt;
  }
}

class finder {
 public:
  explicit finder(const program &p) : p_(p) {}

  std::vector<known> run() {
    for (const node &n : p_.nodes) {
      fixed_.push_back(is_fixed(n));
      known k = fixed_.back() ? of(n) : known();
      // What f32 does not hold is infinite or NaN there.
      constexpr double largest = std::numeric_limits<float>::max() / 2;
      if (k && !(k->least > -largest && k->most < largest)) k.reset();
      all_.push_back(k);
    }
    return std::move(all_);
  }

 private:
  // No input has a part in it.
  bool is_fixed(const node &n) const {
    if (n.kind == op::number || n.kind == op::index || n.kind == op::size) return true;
    if (n.kind == op::element) return fixed_[n.in[0]];  // the other operand says of which scan
    if (!is_pointwise(n.kind) && !is_view(n.kind) && !is_gather(n.kind) && n.kind != op::mask)
      return false;
    return std::all_of(n.in.begin(), n.in.end(), [&](node_id m) { return fixed_[m]; });
  }

  double size_of(axis_id a, double of_call) const {
    const std::int64_t size = p_.axes[p_.axes[a].root].size;
    return size < 0 ? of_call : static_cast<double>(size);
  }

  known of(const node &n) const {
    constexpr double longest = longest_axis;
    const auto operand = [&](std::size_t k) {
      // What an operation did not keep within i32 has been refused.
      known b = all_[n.in[k]];
      if (b && p_[n.in[k]].type == i32)
        b = bounds{std::clamp(b->least, lowest, highest), std::clamp(b->most, lowest, highest)};
      return b;
    };
    const auto both = [&](std::size_t k, auto meet) {
      const known a = operand(k), b = operand(k + 1);
      return a && b ? meet(*a, *b) : known();
    };
    switch (n.kind) {
      case op::number:
        return bounds{n.value, n.value};
      case op::index:
        return bounds{0, std::max(size_of(n.over[0], longest), 1.) - 1};
      case op::size:
        return bounds{size_of(n.over[0], 0), size_of(n.over[0], longest)};
      case op::where:
        return both(1, hull);
      case op::concat:
        return both(0, hull);
      case op::take: {  // 0 of an empty table
        const known table = operand(0);
        return table ? hull(*table, {0, 0}) : table;
      }
      case op::cast:
        return cast(n, operand(0));
      default:
        break;
    }
    if (n.kind == op::mask || is_view(n.kind)) return operand(0);
    if (n.type == bf16 || n.type == f16 || n.type == b8) return std::nullopt;
    if (is_unary(n.kind)) {
      const known a = operand(0);
      return a ? of_one(n.kind, *a) : a;
    }
    if (is_binary(n.kind))
      return both(0, [&](const bounds &a, const bounds &b) { return of_two(n.kind, a, b); });
    return std::nullopt;
  }

  known cast(const node &n, const known &from) const {
    const dtype type = p_[n.in[0]].type;
    if (n.type == i32 && type == b8) return bounds{0, 1};
    if (!from || n.type == bf16 || n.type == f16 || n.type == b8) return std::nullopt;
    if (n.type != i32 || type == i32) return from;
    if (from->least == from->most) return bounds{std::trunc(from->least), std::trunc(from->least)};
    // Wider, since these were bounds of exact numbers.
    const double off = 1 + std::max(std::fabs(from->least), std::fabs(from->most)) / 64;
    const bounds wide = {from->least - off, from->most + off};
    return fits_i32(wide) ? wide : known();
  }

  const program &p_;
  std::vector<bool> fixed_;
  std::vector<known> all_;
};

}  // namespace

std::vector<std::optional<bounds>> bounds_of_positions(const program &p) { return finder(p).run(); }

bool fits_i32(const bounds &b) { return b.least >= lowest && b.most <= highest; }

std::vector<bool> steps_that_wrap(const program &p) {
  const std::vector<known> found = bounds_of_positions(p);
  std::vector<bool> wrap;
  for (std::size_t n = 0; n < p.nodes.size(); ++n) {
    const op k = p.nodes[n].kind;
    const bool arithmetic = k == op::neg || k == op::add || k == op::sub || k == op::mul;
    wrap.push_back(p.nodes[n].type == i32 && arithmetic && !found[n]);
  }
  return wrap;
}

}  // namespace qkv::codegen
