// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/contraction_form.hpp"

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

std::optional<contraction_form> contraction_form_of(const program &p, const stages &cut,
                                                    const contraction_stage &s) {
  const dtype result = p[s.root].type;
  if (s.row == no_axis || p[s.core].type != f32 ||
      (result != f32 && result != bf16 && result != f16))
    return std::nullopt;
  const std::vector<bool> gaps = steps_with_gaps(p);
  const auto left = operand_of(p, cut, s.left, gaps), right = operand_of(p, cut, s.right, gaps);
  if (!left || !right) return std::nullopt;
  const dtype element = p[left->memory].type;
  if (p[right->memory].type != element || (element != f32 && element != bf16 && element != f16))
    return std::nullopt;
  return contraction_form{element, *left, *right};
}

}  // namespace qkv::codegen
