#include "codegen/plan/tensor_form.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

// Heads of more columns would not fit into registers.
constexpr int most_columns = 256;

bool is_narrow(dtype t) { return t == bf16 || t == f16; }

// The input of 16 bits of which this step has the numbers.
node_id narrow_input(const program &p, node_id n) {
  if (p[n].kind == op::cast && p[n].type == f32) n = p[n].in[0];
  const bool is_argument = p[n].kind == op::input || p[n].kind == op::param;
  return is_argument && is_narrow(p[n].type) ? n : no_step;
}

// A size that is known and not too large, or 0.
int extent_of(const program &p, axis_id a) {
  const std::int64_t n = p.axes[p.axes[a].root].size;
  return n > 0 && n <= most_columns ? static_cast<int>(n) : 0;
}

class form_finder {
 public:
  form_finder(const program &p, const attention_stage &s) : p_(p), s_(s) {}

  std::optional<tensor_form> run() {
    if (s_.row == no_axis || !s_.is_normalised() || p_[s_.weights].kind != op::softmax ||
        p_[s_.weights].less_maximum || s_.sums.size() != 1 || s_.products.size() != 1)
      return std::nullopt;
    if (!has_product(s_.products[0]) || !has_values(s_.sums[0]) || !has_results())
      return std::nullopt;
    return form_;
  }

 private:
  bool has_product(node_id dot) {
    const node &x = p_[dot];
    if (x.over.size() != 1) return false;
    form_.product = dot;
    form_.features = extent_of(p_, x.over[0]);
    for (node_id operand : x.in) {
      const node_id input = factored(operand, x.over[0]);
      if (input == no_step || p_[input].shape.back() != x.over[0]) return false;
      const bool of_row = has(p_[input].shape, s_.row), of_key = has(p_[input].shape, s_.key);
      if (of_row == of_key) return false;
      (of_row ? form_.queries : form_.keys) = input;
    }
    form_.element = p_[form_.keys].type;
    return form_.features > 0 && form_.queries != no_step && form_.keys != no_step &&
           p_[form_.queries].type == form_.element;
  }

  // The input of an operand; what it is multiplied by, other than along the features, is a factor.
  node_id factored(node_id n, axis_id feature) {
    while (p_[n].kind == op::mul) {
      const auto &in = p_[n].in;
      const int side = has(p_[in[0]].shape, feature) ? 1 : 0;
      if (has(p_[in[side]].shape, feature)) return no_step;
      form_.factors.push_back(in[side]);
      n = in[1 - side];
    }
    return narrow_input(p_, n);
  }

  bool has_values(const weighted_sum &sum) {
    if (sum.gate != no_step || sum.values == no_step || sum.column == no_axis) return false;
    form_.values = narrow_input(p_, sum.values);
    form_.columns = extent_of(p_, sum.column);
    return form_.values != no_step && form_.columns > 0 && p_[form_.values].type == form_.element &&
           p_[form_.values].shape.back() == sum.column && !has(p_[form_.values].shape, s_.row);
  }

  // Results of 16 bits: the weights are rounded to as many. The logsumexp comes from numbers of f32.
  bool has_results() const {
    const weighted_sum &sum = s_.sums[0];
    const node &root = p_[sum.root];
    if (root.kind != op::output || root.type != form_.element || root.shape.back() != sum.column)
      return false;
    node_id written = root.in[0];
    while (p_[written].kind == op::cast) written = p_[written].in[0];
    if (written != sum.core) return false;
    if (s_.lse == no_step) return true;
    const node &lse = p_[s_.lse_root];
    return lse.kind == op::output && lse.type == f32 && lse.in[0] == s_.lse;
  }

  const program &p_;
  const attention_stage &s_;
  tensor_form form_;
};

}  // namespace

std::optional<tensor_form> tensor_form_of(const program &p, const attention_stage &s) {
  return form_finder(p, s).run();
}

bool has_tensor_forms(const program &p, const stages &cut) {
  return std::any_of(cut.list.begin(), cut.list.end(), [&](const stage &s) {
    const auto *attention = std::get_if<attention_stage>(&s);
    return attention && tensor_form_of(p, *attention);
  });
}

}  // namespace qkv::codegen
