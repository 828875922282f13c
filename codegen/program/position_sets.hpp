// SPDX-License-Identifier: BSL-1.0
#pragma once
// The positions at which a condition holds, over all sizes that axes may have: finds conditions
// that are always or never true, and the side of a query on which a condition selects keys.
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// index(kv) - index(seq) + 2 size(seq): terms by their factors.
struct term {
  enum kind { position, size, step } what;  // of an axis; an i32 or b8 of any value
  int id;
  auto operator<=>(const term &) const = default;
};
using linear_form = std::map<term, std::int64_t>;  // no factor is 0

linear_form negative(linear_form);

struct interval {
  static constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = -infinite, most = infinite;
};

// Positions at which each form lies in its interval. The first factor of a form is positive.
using position_set = std::map<linear_form, interval>;

// The sum of a form and a number that an i32 step computes. A step that computes another thing, or
// that let() names, is a term itself.
struct affine {
  linear_form form;
  std::int64_t number = 0;
};
affine affine_of(const program &, node_id);

// index(first) - index(second): the two axes; nothing for other forms.
struct two_positions {
  axis_id first, second;
};
std::optional<two_positions> difference_in(const linear_form &);
// index(axis) - a number of the call; nothing for other forms.
struct position_less_number {
  axis_id position;
  node_id number;
};
std::optional<position_less_number> position_less_number_in(const linear_form &);

// The values it may have.
interval range_of(const program &, const affine &);

// Sets whose union is where a b8 step is true (or false); all are possible for some sizes of at
// least 1, as far as each form alone decides. Empty: it never is. A condition with too many
// alternatives may be true everywhere.
std::vector<position_set> positions_where(const program &, node_id condition, bool is_true);

// True if each set bounds the distance of a key from the query to an interval that `is` accepts;
// false without sets.
bool all_bound_distance(const std::vector<position_set> &, const std::vector<axis_id> &keys,
                        const std::function<bool(const interval &)> &is);

}  // namespace qkv::codegen
