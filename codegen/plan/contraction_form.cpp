// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/contraction_form.hpp"

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

class contraction_form_finder {
 public:
  contraction_form_finder(const plan &made, const contraction_stage &s)
      : made_(made), p_(made.p), s_(s) {}

  std::optional<contraction_form> run() {
    if (!has_operands() || !has_depth()) return std::nullopt;
    form_.folded = foldable();
    form_.is_precise = form_.element == f32 || p_[s_.root].type == f32;
    return form_;
  }

 private:
  static bool is_number_type(dtype t) { return t == f32 || t == bf16 || t == f16; }

  bool has_operands() {
    if (s_.row == no_axis || p_[s_.core].type != f32 || !is_number_type(p_[s_.root].type))
      return false;
    const std::vector<bool> gaps = steps_with_gaps(p_);
    const auto left = operand_of(made_, s_.left, gaps), right = operand_of(made_, s_.right, gaps);
    if (!left || !right) return false;
    form_.element = p_[left->memory].type;
    form_.left = *left, form_.right = *right;
    return is_number_type(form_.element) && p_[right->memory].type == form_.element;
  }

  // Neighbours in memory lie along rows, or along an axis of the sum, the same in both operands.
  bool has_depth() {
    const std::vector<axis_id> &over = p_[s_.core].over;
    const axis_id left = form_.left.axes.back(), right = form_.right.axes.back();
    form_.left_by_depth = left != s_.row, form_.right_by_depth = right != s_.column;
    if (form_.left_by_depth && !has(over, left)) return false;
    if (form_.right_by_depth && !has(over, right)) return false;
    if (form_.left_by_depth && form_.right_by_depth && left != right) return false;
    form_.depth = form_.right_by_depth ? right : form_.left_by_depth ? left : over.back();
    form_.chunks = without(over, {form_.depth});
    return true;
  }

  axis_id foldable() const {
    for (std::size_t d = s_.outer.size(); form_.left_by_depth && d-- > 0;)
      if (has(form_.left.axes, s_.outer[d]) && !has(form_.right.axes, s_.outer[d]))
        return s_.outer[d];
    return no_axis;
  }

  const plan &made_;
  const program &p_;
  const contraction_stage &s_;
  contraction_form form_;
};

}  // namespace

std::optional<contraction_form> contraction_form_of(const plan &made, const contraction_stage &s) {
  return contraction_form_finder(made, s).run();
}

}  // namespace qkv::codegen
