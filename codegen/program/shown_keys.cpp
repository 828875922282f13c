// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/shown_keys.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/step_value.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class small_call {
 public:
  small_call(const program &p, std::int64_t size) : p_(p), size_(size) {}

  std::int64_t size_of(axis_id a) const {
    const std::int64_t known = static_size(p_, a);
    return known < 0 ? size_ : known;
  }

  // Conditions are 0 or 1.
  std::optional<double> at(node_id n, const std::map<axis_id, std::int64_t> &positions) const {
    const node &x = p_[n];
    if (x.kind == op::number) return x.value;
    if (x.kind == op::size) return static_cast<double>(size_of(x.over[0]));
    if (x.kind == op::index) {
      const auto position = positions.find(x.over[0]);
      return position == positions.end() ? std::nullopt
                                         : std::optional(static_cast<double>(position->second));
    }
    if (x.kind != op::broadcast && x.kind != op::cast && !is_pointwise(x.kind)) return {};
    double in[3] = {};
    for (std::size_t k = 0; k < x.in.size(); ++k) {
      const std::optional<double> operand = at(x.in[k], positions);
      if (!operand) return {};
      in[k] = *operand;
    }
    return value_of(x, in);
  }

 private:
  const program &p_;
  const std::int64_t size_;
};

}  // namespace

std::optional<std::int64_t> query_that_sees_nothing(const program &p, node_id condition,
                                                    axis_id query, axis_id key) {
  constexpr double most = 4096;
  double largest = 4;
  std::set<node_id> steps;
  walk(p, condition, [](node_id) { return true; }, steps);
  for (const node_id n : steps)
    if (is_number(p, n)) largest = std::max(largest, std::abs(p[n].value));
  if (largest > most) return {};
  const auto number = static_cast<std::int64_t>(largest);
  const small_call t(p, 3 * number);
  std::optional<std::int64_t> blind;
  bool any_sees = false;
  for (const std::int64_t q :
       {std::int64_t{0}, std::int64_t{1}, number - 1, number, number + 1, 2 * number}) {
    if (q < 0 || q >= t.size_of(query)) continue;
    bool sees = false;
    for (std::int64_t k = 0; k < t.size_of(key) && !sees; ++k) {
      const std::optional<double> shown = t.at(condition, {{query, q}, {key, k}});
      if (!shown) return {};
      sees = *shown != 0;
    }
    if (!sees && !blind) blind = q;
    any_sees = any_sees || sees;
  }
  return any_sees ? blind : std::nullopt;
}

}  // namespace qkv::codegen
