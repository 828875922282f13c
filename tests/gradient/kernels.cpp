// SPDX-License-Identifier: BSL-1.0
// The programs of all kernels in the headers of tests/kernels, for a build that compiles none of
// them.
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

std::vector<codegen::program> gradient_kernels();
std::vector<codegen::program> gradient_kernels() { return {QKV_PROGRAMS}; }

}  // namespace qkv::testing
