// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/pair_sums_form.hpp"

#include "codegen/plan/tensor_form.hpp"

namespace qkv::codegen {
namespace {

// More would not fit into the registers of a warp.
constexpr std::size_t most_pair_products = 2, most_pair_sums = 3;

class pair_sums_finder {
 public:
  pair_sums_finder(const plan &made, const attention_stage &s)
      : p_(made.p), s_(s), find_(made, s) {}

  std::optional<pair_sums_form> run() {
    if (s_.row == no_axis || s_.is_normalised() || s_.products.empty() ||
        s_.products.size() > most_pair_products || s_.sums.size() > most_pair_sums)
      return std::nullopt;
    for (node_id dot : s_.products)
      if (!add_product(dot)) return std::nullopt;
    for (const weighted_sum &sum : s_.sums)
      if (!add_sum(sum)) return std::nullopt;
    for (const pair_sums_form::key_tensor &k : form_.keys)
      if (find_.type_of(k.operand) != form_.element) return std::nullopt;
    return form_;
  }

 private:
  bool add_product(node_id dot) {
    const std::optional<tensor_product> found = find_.product(dot);
    if (!found) return false;
    form_.element = find_.type_of(found->keys);
    form_.products.push_back({*found, tensor(found->keys, p_[dot].over[0])});
    return true;
  }

  bool add_sum(const weighted_sum &sum) {
    const std::optional<tensor_operand> values = find_.values(sum);
    const dtype t = p_[sum.root].type;
    if (!values || (t != form_.element && t != f32) || !find_.can_finish(sum)) return false;
    form_.sums.push_back({tensor(*values, sum.column), extent_in_tile(p_, sum.column),
                          !is_rounded(p_, sum.root, sum.core),
                          form_.element == f32 ? 1 : parts_of_weights(p_, form_.element, t)});
    return true;
  }

  // Products and sums that read the same memory share its tiles.
  std::size_t tensor(const tensor_operand &x, axis_id column) {
    std::size_t k = 0;
    while (k < form_.keys.size() && !is_same(form_.keys[k], x, column)) ++k;
    if (k == form_.keys.size()) form_.keys.push_back({x, extent_in_tile(p_, column), column});
    return k;
  }
  static bool is_same(const pair_sums_form::key_tensor &k, const tensor_operand &x,
                      axis_id column) {
    return k.operand.memory == x.memory && k.operand.views == x.views && k.column == column;
  }

  const program &p_;
  const attention_stage &s_;
  const tensor_product_finder find_;
  pair_sums_form form_;
};

}  // namespace

std::optional<pair_sums_form> pair_sums_form_of(const plan &made, const attention_stage &s) {
  return pair_sums_finder(made, s).run();
}

}  // namespace qkv::codegen
