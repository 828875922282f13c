// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/tensor_form.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

class form_finder {
 public:
  form_finder(const plan &made, const attention_stage &s) : p_(made.p), s_(s), find_(made, s) {}

  std::optional<tensor_form> run() {
    if (s_.row == no_axis || !s_.is_normalised() || p_[s_.weights].kind != op::softmax ||
        p_[s_.weights].less_maximum || s_.sums.size() != 1 || s_.products.size() != 1)
      return std::nullopt;
    if (!has_operands() || !has_results()) return std::nullopt;
    return form_;
  }

 private:
  bool has_operands() {
    const std::optional<tensor_product> product = find_.product(s_.products[0]);
    const std::optional<tensor_operand> values = find_.values(s_.sums[0]);
    if (!product || !values) return false;
    form_.product = *product;
    form_.values = *values;
    form_.element = find_.type_of(product->keys);
    form_.columns = extent_in_tile(p_, s_.sums[0].column);
    return find_.type_of(*values) == form_.element;
  }

  // In the type of the operands, or of f32, as the logsumexp is always.
  bool has_results() {
    const weighted_sum &sum = s_.sums[0];
    const dtype t = p_[sum.root].type;
    form_.finishes = !is_rounded(p_, sum.root, sum.core);
    form_.weight_parts = parts_of_weights(p_, form_.element, t);
    return (t == form_.element || t == f32) && find_.can_finish(sum) &&
           (s_.lse == no_step ||
            (p_[s_.lse_root].type == f32 && is_rounded(p_, s_.lse_root, s_.lse)));
  }

  const program &p_;
  const attention_stage &s_;
  const tensor_product_finder find_;
  tensor_form form_;
};

}  // namespace

int parts_of_weights(const program &p, dtype element, dtype result) {
  if (element == result) return 1;
  const bool has_f32 =
      std::any_of(p.outputs.begin(), p.outputs.end(), [&](node_id n) { return p[n].type == f32; });
  return element == bf16 && has_f32 ? 3 : 2;
}

std::optional<tensor_form> tensor_form_of(const plan &made, const attention_stage &s) {
  return form_finder(made, s).run();
}

}  // namespace qkv::codegen
