// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/axis.hpp>
#include <stdexcept>
#include <string>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using known = std::optional<bounds>;

constexpr std::int64_t lowest_i32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t highest_i32 = std::numeric_limits<std::int32_t>::max();

bounds hull(const bounds &a, const bounds &b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

// True for pointwise operations whose result may leave i32.
constexpr bool is_arithmetic(op k) { return is_pointwise(k) && core::facts_of(k).wraps; }

// True for those that each call can check (halide/lower/position_ranges.cpp).
constexpr bool can_be_guarded(op k) {
  return k == op::neg || k == op::abs || k == op::add || k == op::sub;
}

constexpr bounds product(const bounds &a, const bounds &b) {
  const auto [least, most] =
      std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
  return {least, most};
}

// Of the exact result. Throws std::logic_error for other operations.
constexpr bounds arithmetic(op kind, const bounds &a, const bounds &b) {
  switch (kind) {
    case op::neg:
      return {-a.most, -a.least};
    case op::abs:
      return {std::max({std::int64_t{0}, a.least, -a.most}), std::max(-a.least, a.most)};
    case op::add:
      return {a.least + b.least, a.most + b.most};
    case op::sub:
      return {a.least - b.most, a.most - b.least};
    case op::mul:
      return product(a, b);
    default:
      throw std::logic_error(std::string(name_of(kind)) + " has no bounds");
  }
}
static_assert(
    [] {
      for (const core::op_facts &o : core::op_table)
        if (is_arithmetic(o.kind)) (void)arithmetic(o.kind, {0, 0}, {0, 0});
      return true;
    }(),
    "the bounds of an operation that wraps around are missing");

class finder {
 public:
  explicit finder(const program &p) : p_(p) {}

  whole_numbers run() {
    for (const node &n : p_.nodes) {
      found_.guarded.push_back(false);
      of_call_.push_back(depends_on_call(n));
      found_.known.push_back(n.type == i32 ? of(n) : known());
      found_.wraps.push_back(n.type == i32 && is_arithmetic(n.kind) && !found_.known.back());
      reach_.push_back(reach(n));
      found_.unsolvable.push_back(is_comparison(n.kind) && !can_be_solved(n));
    }
    return std::move(found_);
  }

 private:
  const known &operand(const node &n, std::size_t k) const { return found_.known[n.in[k]]; }

  bool depends_on_call(const node &n) const {
    if (n.kind == op::index || n.kind == op::size) return run_time(n.over[0]);
    return std::any_of(n.in.begin(), n.in.end(), [&](node_id m) { return of_call_[m]; });
  }

  bool run_time(axis_id a) const { return static_size(p_, a) < 0; }

  known of(const node &n) {
    switch (n.kind) {
      case op::number:
        return bounds{static_cast<std::int64_t>(n.value), static_cast<std::int64_t>(n.value)};
      case op::index: {
        const axis_id a = n.over[0];
        return bounds{
            0,
            (run_time(a) ? core::longest_axis : std::max<std::int64_t>(static_size(p_, a), 1)) - 1};
      }
      case op::size: {
        const axis_id a = n.over[0];
        return run_time(a) ? bounds{0, core::longest_axis}
                           : bounds{static_size(p_, a), static_size(p_, a)};
      }
      case op::input:
        return n.is_position ? known(bounds{0, core::longest_axis}) : known();
      case op::cast:
        return p_[n.in[0]].type == b8 ? bounds{0, 1} : operand(n, 0);
      case op::where:
        return meet(operand(n, 1), operand(n, 2), hull);
      case op::concat:
        return meet(operand(n, 0), operand(n, 1), hull);
      case op::take:  // 0 of an empty table
        return meet(operand(n, 0), known(bounds{0, 0}), hull);
      case op::min:
        return meet(operand(n, 0), operand(n, 1), [](const bounds &a, const bounds &b) {
          return bounds{std::min(a.least, b.least), std::min(a.most, b.most)};
        });
      case op::max:
        return meet(operand(n, 0), operand(n, 1), [](const bounds &a, const bounds &b) {
          return bounds{std::max(a.least, b.least), std::max(a.most, b.most)};
        });
      default:
        break;
    }
    if (is_position_in_whole(p_, n)) return bounds{0, core::longest_axis - 1};
    if (is_arithmetic(n.kind)) return computed(n);
    return is_view(n.kind) || n.kind == op::mask ? operand(n, 0) : known();
  }

  // True if every term of the comparison may change sides and the sums still stay within i32.
  bool can_be_solved(const node &n) const {
    const auto is_whole = [&](node_id m) { return p_[m].type == i32; };
    if (!std::all_of(n.in.begin(), n.in.end(), is_whole)) return true;
    return reach_[n.in[0]] + reach_[n.in[1]] <= static_cast<double>(highest_i32);
  }

  // The sum of the magnitudes of all terms. Axes count as 2^28 positions long: longer ones, of
  // elements of four bytes, do not fit two to a kernel.
  double reach(const node &n) const {
    constexpr double of_an_axis = 1 << 28;
    const auto size = [&](axis_id a) {
      return run_time(a) ? of_an_axis : static_cast<double>(static_size(p_, a));
    };
    if (n.type != i32) return 0;
    if (n.is_position || is_position_in_whole(p_, n)) return of_an_axis;
    if (!found_.known.back()) return std::numeric_limits<double>::infinity();
    switch (n.kind) {
      case op::number:
        return std::abs(n.value);
      case op::index:
      case op::size:
        return size(n.over[0]);
      case op::mul:
        return reach_[n.in[0]] * reach_[n.in[1]];
      case op::add:
      case op::sub:
        return reach_[n.in[0]] + reach_[n.in[1]];
      case op::neg:
      case op::abs:
        return largest_reach(n);
      default:
        return is_arithmetic(n.kind) ? std::numeric_limits<double>::infinity() : largest_reach(n);
    }
  }

  // Of the operands.
  double largest_reach(const node &n) const {
    double most = 1;
    for (node_id operand : n.in) most = std::max(most, reach_[operand]);
    return most;
  }

  template <class Meet>
  static known meet(const known &a, const known &b, Meet how) {
    return a && b ? known(how(*a, *b)) : known();
  }

  known computed(const node &n) {
    const known &a = operand(n, 0), &b = operand(n, n.in.size() - 1);
    if (!a || !b) return std::nullopt;
    const bounds exact = arithmetic(n.kind, *a, *b);
    if (exact.least >= lowest_i32 && exact.most <= highest_i32) return exact;
    if (!can_be_guarded(n.kind) || !of_call_.back()) return std::nullopt;
    found_.guarded.back() = true;
    return bounds{std::max(exact.least, lowest_i32), std::min(exact.most, highest_i32)};
  }

  const program &p_;
  std::vector<bool> of_call_;  // per step: whether a size of the call takes part
  std::vector<double> reach_;
  whole_numbers found_;
};

}  // namespace

whole_numbers bounds_of_whole_numbers(const program &p) { return finder(p).run(); }

}  // namespace qkv::codegen
