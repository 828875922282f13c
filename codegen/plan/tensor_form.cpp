// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/tensor_form.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

// Heads of more columns would not fit into registers.
constexpr int most_columns = 256;

// A size that is known and not too large, or 0.
int extent_of(const program &p, axis_id a) {
  const std::int64_t n = p.axes[p.axes[a].root].size;
  return n > 0 && n <= most_columns ? static_cast<int>(n) : 0;
}

class form_finder {
 public:
  form_finder(const program &p, const stages &cut, const attention_stage &s)
      : p_(p), cut_(cut), s_(s), gaps_(steps_with_gaps(p)) {}

  std::optional<tensor_form> run() {
    if (s_.row == no_axis || !s_.is_normalised() || p_[s_.weights].kind != op::softmax ||
        p_[s_.weights].less_maximum || s_.sums.size() != 1 || s_.products.size() != 1)
      return std::nullopt;
    if (!has_product(s_.products[0]) || !has_values(s_.sums[0]) || !has_results())
      return std::nullopt;
    return form_;
  }

 private:
  dtype type_of(const tensor_operand &x) const { return p_[x.memory].type; }

  bool is_operand(node_id n, tensor_operand &result) const {
    const std::optional<tensor_operand> found = operand_of(p_, cut_, n, gaps_);
    if (found) result = *found;
    return found.has_value();
  }

  bool has_product(node_id dot) {
    const node &x = p_[dot];
    if (x.over.size() != 1 || x.type != f32) return false;
    form_.product = dot;
    form_.features = extent_of(p_, x.over[0]);
    for (node_id operand : x.in) {
      const node_id bare = without_factors(operand, x.over[0]);
      if (bare == no_step) return false;
      const bool of_row = has(p_[bare].shape, s_.row), of_key = has(p_[bare].shape, s_.key);
      tensor_operand &found = of_row ? form_.queries : form_.keys;
      if (gaps_[operand] || of_row == of_key || found.memory != no_step || !is_operand(bare, found))
        return false;
    }
    form_.element = type_of(form_.keys);
    return form_.features > 0 && type_of(form_.queries) == form_.element;
  }

  // The operand without multiplications by what does not vary along the features: those are factors
  // of the product.
  node_id without_factors(node_id n, axis_id feature) {
    while (p_[n].kind == op::mul && cut_.stored_by[n] < 0) {
      const auto &in = p_[n].in;
      const int side = has(p_[in[0]].shape, feature) ? 1 : 0;
      if (has(p_[in[side]].shape, feature)) return no_step;
      form_.factors.push_back(in[side]);
      n = in[1 - side];
    }
    return n;
  }

  bool has_values(const weighted_sum &sum) {
    if (sum.gate != no_step || sum.values == no_step || sum.column == no_axis) return false;
    form_.columns = extent_of(p_, sum.column);
    return form_.columns > 0 && !has(p_[sum.values].shape, s_.row) &&
           is_operand(sum.values, form_.values) && type_of(form_.values) == form_.element;
  }

  // The sum itself, in the type of the operands; the logsumexp is of f32 always.
  bool has_results() const {
    const weighted_sum &sum = s_.sums[0];
    if (p_[sum.root].type != form_.element || !is_whole(sum.root, sum.core)) return false;
    return s_.lse == no_step || (p_[s_.lse_root].type == f32 && is_whole(s_.lse_root, s_.lse));
  }

  // True if the step that is stored is the sum, perhaps rounded.
  bool is_whole(node_id root, node_id core) const {
    while (root != core && (p_[root].kind == op::output || p_[root].kind == op::cast))
      root = p_[root].in[0];
    return root == core;
  }

  const program &p_;
  const stages &cut_;
  const attention_stage &s_;
  const std::vector<bool> gaps_;
  tensor_form form_;
};

}  // namespace

std::optional<tensor_form> tensor_form_of(const program &p, const stages &cut,
                                          const attention_stage &s) {
  return form_finder(p, cut, s).run();
}

}  // namespace qkv::codegen
