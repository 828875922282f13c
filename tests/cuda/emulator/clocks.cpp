// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/clocks.hpp"

#include <algorithm>

namespace qkv::ptx {

void join(clocks &a, const clocks &b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
}

}  // namespace qkv::ptx
