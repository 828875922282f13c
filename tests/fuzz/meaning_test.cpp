// SPDX-License-Identifier: BSL-1.0
// A fixed slice of random specs: rewrites, stages, sheets.
#include "tests/catch.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/isolate.hpp"
#include "tests/fuzz/print.hpp"
#include "tests/fuzz/shrink.hpp"

using namespace qkv::fuzz;

namespace {

recipe drawn(std::uint64_t seed) {
  taste t;
  t.small = true;
  return pruned(draw(seed, t), seed % 10 == 0);
}

}  // namespace

TEST_CASE("random specs mean the same after every rewrite and stage") {
  constexpr std::uint64_t specs = 2000, at_once = 100;
  for (std::uint64_t first = 0; first < specs; first += at_once) {
    const std::string wrong = isolated(
        [&]() -> std::string {
          for (std::uint64_t seed = first; seed < first + at_once; ++seed) {
            const recipe r = drawn(seed);
            const std::string w = wrong_meaning(r, seed);
            if (w.empty()) continue;
            const recipe small = shrunk(
                r, [&](const recipe &x) { return kind_of(wrong_meaning(x, seed)) == kind_of(w); });
            return wrong_meaning(small, seed) + "\n" + header_of(small);
          }
          return "";
        },
        300);
    INFO("seeds from " << first);
    CHECK(wrong == "");
  }
}
