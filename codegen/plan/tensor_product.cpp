// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/tensor_product.hpp"

#include <algorithm>
#include <set>

#include "codegen/program/walk.hpp"

namespace qkv::codegen {

bool is_rounded(const program &p, node_id root, node_id core) {
  const dtype stored = p[root].type;
  while (root != core &&
         (p[root].kind == op::output || (p[root].kind == op::cast && p[root].type == stored)))
    root = p[root].in[0];
  return root == core;
}

int extent_in_tile(const program &p, axis_id a) {
  constexpr int most = 256;
  const std::int64_t n = static_size(p, a);
  return n > 0 && n <= most ? static_cast<int>(n) : 0;
}

std::optional<tensor_product> tensor_product_finder::product(node_id dot) const {
  const node &x = p_[dot];
  if (x.kind != op::dot || x.over.size() != 1 || x.type != f32) return std::nullopt;
  tensor_product made;
  made.core = dot;
  made.features = extent_in_tile(p_, x.over[0]);
  for (node_id operand : x.in) {
    const node_id bare = without_factors(operand, x.over[0], made.factors);
    if (bare == no_step) return std::nullopt;
    const bool of_row = has(p_[bare].shape, s_.row), of_key = has(p_[bare].shape, s_.key);
    tensor_operand &side = of_row ? made.rows : made.keys;
    if (gaps_[operand] || of_row == of_key || side.memory != no_step) return std::nullopt;
    const std::optional<tensor_operand> found = operand_of(made_, bare, gaps_);
    if (!found || found->axes.back() != x.over[0]) return std::nullopt;
    side = *found;
  }
  if (made.features == 0 || type_of(made.rows) != type_of(made.keys)) return std::nullopt;
  return made;
}

// The operand without multiplications by what does not vary along the features: those are factors
// of the product.
node_id tensor_product_finder::without_factors(node_id n, axis_id feature,
                                               std::vector<node_id> &factors) const {
  while (p_[n].kind == op::mul && made_.cut.stored_by[n] < 0) {
    const auto &in = p_[n].in;
    const int side = has(p_[in[0]].shape, feature) ? 1 : 0;
    if (has(p_[in[side]].shape, feature)) return no_step;
    factors.push_back(in[side]);
    n = in[1 - side];
  }
  return n;
}

std::optional<tensor_operand> tensor_product_finder::values(const weighted_sum &sum) const {
  if (sum.gate != no_step || sum.values == no_step || sum.column == no_axis ||
      extent_in_tile(p_, sum.column) == 0 || has(p_[sum.values].shape, s_.row) ||
      made_.order[sum.root].back() != sum.column)
    return std::nullopt;
  const std::optional<tensor_operand> found = operand_of(made_, sum.values, gaps_);
  return found && found->axes.back() == sum.column ? found : std::nullopt;
}

bool tensor_product_finder::can_finish(const weighted_sum &sum) const {
  std::set<node_id> seen;
  walk(
      p_, sum.root,
      [&](node_id n) { return n == sum.root || (n != sum.core && made_.cut.stored_by[n] < 0); },
      seen);
  const std::vector<node_id> roots = roots_of(s_);
  return std::none_of(roots.begin(), roots.end(),
                      [&](node_id n) { return n != sum.root && seen.count(n) > 0; });
}

}  // namespace qkv::codegen
