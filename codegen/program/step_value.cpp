// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/step_value.hpp"

#include "codegen/program/floating_numbers.hpp"
#include "codegen/program/meaning.hpp"

namespace qkv::codegen {

std::optional<double> value_of(const node &x, const double (&in)[3]) {
  if (x.kind == op::broadcast) return in[0];
  if (x.kind == op::cast) return cast_to(x.type, in[0]);
  if (x.kind == op::where) return in[0] != 0 ? in[1] : in[2];
  if (!has_meaning(x.kind) || (x.kind == op::div && x.type == i32)) return {};
  return meaning_of<floating_numbers<double>>(x.kind, in[0], in[1]);
}

}  // namespace qkv::codegen
