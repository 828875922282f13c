// SPDX-License-Identifier: BSL-1.0
// The gradient of every kernel of the tests of compiled kernels, against finite differences.
#include <set>

#include "codegen/gradient/gradient.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/gradient/programs.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

namespace {

// Kernels that show what becomes of NaN and infinities: their gradients are not finite either.
const std::set<std::string> not_finite = {"infinite_factors", "less_maximum", "masked_less_maximum",
                                          "masked_values_less_maximum", "over_whole"};
// Scores of -3e38 alone: their logsumexp absorbs the logarithm, so weights that are recomputed from
// it are 1 in place of 1 / n.
const std::set<std::string> absorbed = {"lowest_less_maximum"};
bool has_nan(const program &p, const qkv::codegen::arrays &all,
             const qkv::codegen::size_map &sizes) {
  for (const auto &[name, a] : interpret(widened(p), all, sizes))
    for (const double x : a.data)
      if (std::isnan(x)) return true;
  return false;
}

}  // namespace

TEST_CASE("gradients of all kernels agree with finite differences") {
  int right = 0;
  for (const program &p : differentiable_programs()) {
    if (not_finite.count(p.name) || absorbed.count(p.name)) continue;
    for (const std::int64_t first : {3, 1}) {
      const qkv::codegen::size_map sizes = small_sizes(p, first);
      INFO(p.name << " from size " << first);
      qkv::codegen::arrays arguments = arguments_for(p, sizes, seed_or(1));
      // Logarithms and roots need positive arguments.
      if (has_nan(p, arguments, sizes)) arguments = arguments_for(p, sizes, seed_or(1), true);
      const std::string wrong = wrong_gradient(p, qkv::codegen::gradient(p),
                                               with_adjoints(p, arguments, sizes, 2), sizes);
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
    ++right;
  }
  CHECK(right >= 170);
}

TEST_CASE("kernels without a gradient are refused by name") {
  for (const program &p : refused_programs()) {
    INFO(p.name);
    CHECK_THROWS_WITH(qkv::codegen::gradient(p),
                      Catch::Matchers::StartsWith(p.name + "_gradient: "));
  }
}
