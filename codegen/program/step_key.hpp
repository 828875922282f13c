// SPDX-License-Identifier: BSL-1.0
#pragma once
// A key for maps of steps: equal for those that compute the same.
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

using step_key = std::tuple<op, dtype, std::vector<node_id>, std::vector<axis_id>,
                            std::vector<axis_id>, std::uint64_t, bool>;

// The name is not part of the key. Numbers are compared by their bits: NaN equals itself, and 0 is
// not -0.
inline step_key key_of(const node &n) {
  return {n.kind,        n.type, n.in, n.shape, n.over, std::bit_cast<std::uint64_t>(n.value),
          n.less_maximum};
}

}  // namespace qkv::codegen
