// SPDX-License-Identifier: BSL-1.0
#include "tests/gradient/programs.hpp"

#include <algorithm>

#include <qkv/core/types.hpp>

namespace qkv::testing {

using codegen::program;

std::vector<program> gradient_kernels();  // CMakeLists.txt

namespace {

bool is_differentiable(const program &p) {
  return std::any_of(p.arguments.begin(), p.arguments.end(),
                     [&](codegen::node_id n) { return detail::is_float(p[n].type); });
}

std::vector<program> those(bool differentiable) {
  std::vector<program> some;
  for (const program &p : all_programs())
    if (is_differentiable(p) == differentiable) some.push_back(p);
  return some;
}

}  // namespace

const std::vector<program> &all_programs() {
  static const std::vector<program> all = gradient_kernels();
  return all;
}

std::vector<program> differentiable_programs() { return those(true); }
std::vector<program> refused_programs() { return those(false); }

}  // namespace qkv::testing
