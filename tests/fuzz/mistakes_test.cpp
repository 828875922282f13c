// Mistakes put in the place of rewrites: each is found among three hundred random specs.
#include "tests/fuzz/mistakes.hpp"

#include "tests/catch.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/shrink.hpp"

using namespace qkv::fuzz;

namespace {

// The number of specs until it is found; -1: not among three hundred.
int found_after(const mistake &m) {
  const std::vector<rewrite> with = rewrites_with(m);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    taste t;
    t.small = true;
    const recipe r = pruned(draw(seed, t));
    if (!wrong_meaning(r, seed, with).empty() && wrong_meaning(r, seed).empty())
      return static_cast<int>(seed);
  }
  return -1;
}

}  // namespace

TEST_CASE("each of a dozen planted mistakes is found within 300 specs") {
  for (const mistake &m : mistakes()) {
    const int after = found_after(m);
    std::printf("%-45s %d\n", m.name.c_str(), after);
    INFO(m.name);
    CHECK(after >= 0);
  }
}
