#include "tests/gradient/programs.hpp"

#include <algorithm>

#include <qkv/core/types.hpp>

#include "codegen/program/from_graph.hpp"
#include "tests/kernels/dropout_specs.hpp"
#include "tests/kernels/f64_specs.hpp"
#include "tests/kernels/gpu_specs.hpp"
#include "tests/kernels/hidden_specs.hpp"
#include "tests/kernels/odd_specs.hpp"
#include "tests/kernels/order_specs.hpp"
#include "tests/kernels/scan_specs.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/kernels/sums_specs.hpp"
#include "tests/kernels/zoo_specs.hpp"

namespace qkv::testing {

using codegen::make_program;
using codegen::program;

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
  static const std::vector<program> all = {QKV_PROGRAMS};
  return all;
}

std::vector<program> differentiable_programs() { return those(true); }
std::vector<program> refused_programs() { return those(false); }

}  // namespace qkv::testing
