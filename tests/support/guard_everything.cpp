// SPDX-License-Identifier: BSL-1.0
// Linked into a test: with QKV_GUARD=end or begin, every workspace of the process takes guarded
// memory, and the process fails at its end if something was written outside of a block.
#include <cstdio>
#include <cstdlib>

#include "tests/support/guarded_memory.hpp"

namespace qkv::testing {
namespace {

void report() {
  for (guard where : {guard::after, guard::before}) {
    const std::string text = guarded_memory_of(where).damage();
    if (text.empty()) continue;
    std::fprintf(stderr, "guarded memory: %s\n", text.c_str());
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

const bool installed = [] {
  if (!guards_everything()) return false;
  detail::set_memory_source(&guarded_memory_of(guard_or(guard::after)));
  std::atexit(report);
  return true;
}();

}  // namespace
}  // namespace qkv::testing
