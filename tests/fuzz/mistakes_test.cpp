// SPDX-License-Identifier: BSL-1.0
// Mistakes planted among the rewrites: each is found within three hundred random specs.
#include "tests/fuzz/mistakes.hpp"

#include "tests/catch.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/shrink.hpp"

using namespace qkv::fuzz;

namespace {

// Number of specs until the mistake makes a result of `in` wrong; an error alone does not count.
// Returns -1 if three hundred specs do not show it.
int found_after(const std::string &in, const std::vector<rewrite> &with,
                const cut &how = qkv::codegen::cut_into_stages) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    taste t;
    t.small = true;
    const recipe r = pruned(draw(seed, t));
    if (wrong_meaning(r, seed, with, how).starts_with(in + ": ") && wrong_meaning(r, seed).empty())
      return static_cast<int>(seed);
  }
  return -1;
}

}  // namespace

TEST_CASE("each of a dozen planted mistakes is found within 300 specs") {
  for (const mistake &m : mistakes()) {
    INFO(m.name);
    CHECK(found_after(m.in, rewrites_with(m)) >= 0);
  }
}

TEST_CASE("each wrong cut into stages is found within 300 specs") {
  for (const wrong_cut &c : wrong_cuts()) {
    INFO(c.name);
    CHECK(found_after("stages", all_rewrites(), c.run) >= 0);
  }
}
