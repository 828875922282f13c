// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/step_value.hpp"

#include <algorithm>
#include <cmath>

namespace qkv::codegen {

std::optional<double> value_of(const node &x, const double (&in)[3]) {
  switch (x.kind) {
    case op::broadcast:
      return in[0];
    case op::cast:
      return x.type == i32 ? std::trunc(in[0]) : in[0];
    case op::neg:
      return -in[0];
    case op::abs:
      return std::abs(in[0]);
    case op::not_:
      return in[0] == 0;
    case op::add:
      return in[0] + in[1];
    case op::sub:
      return in[0] - in[1];
    case op::mul:
      return in[0] * in[1];
    case op::div:
      return x.type == i32 ? std::nullopt : std::optional(in[0] / in[1]);
    case op::min:
      return std::min(in[0], in[1]);
    case op::max:
      return std::max(in[0], in[1]);
    case op::less:
      return in[0] < in[1];
    case op::less_equal:
      return in[0] <= in[1];
    case op::greater:
      return in[0] > in[1];
    case op::greater_equal:
      return in[0] >= in[1];
    case op::equal:
      return in[0] == in[1];
    case op::not_equal:
      return in[0] != in[1];
    case op::and_:
      return in[0] != 0 && in[1] != 0;
    case op::or_:
      return in[0] != 0 || in[1] != 0;
    case op::where:
      return in[0] != 0 ? in[1] : in[2];
    default:
      return {};
  }
}

}  // namespace qkv::codegen
