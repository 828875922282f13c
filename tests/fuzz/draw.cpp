// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/draw.hpp"

#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

recipe draw(std::uint64_t seed, const taste &t) {
  for (std::uint64_t again = 0;; ++again) {
    recipe r = drawer(seed + (again << 40), t).run();
    r.name = "k" + std::to_string(seed);
    if (!r.results.empty() && program_of(r)) return r;
  }
}

}  // namespace qkv::fuzz
