// SPDX-License-Identifier: BSL-1.0
#pragma once
// An axis of a hop along which machines can divide the pairs, as heads
// (codegen/ring/independent.hpp).
#include <cstdint>
#include <map>
#include <qkv/ring_layout.hpp>
#include <string>

#include "ring/local_tensor.hpp"
#include "ring/parts.hpp"

namespace qkv::ring {

struct independent_axis {
  std::string name;  // empty: the hop has none
  std::int64_t size = 0;
  // How many positions of an axis belong to one of these: 1 of itself, those of a group of the
  // heads that share keys.
  std::map<std::string, std::int64_t, std::less<>> multiples;

  // True if an argument of the hop has it, or a multiple.
  bool is_of(const qkv_kernel &hop, const qkv_argument &) const;
  // The positions of one of so many machines.
  positions of(int machine, int machines) const;
  // The part of a tensor; all of it where it lacks the axis.
  qkv_tensor part(const local_tensor &, const positions &) const;
  // The number of positions along an axis that belong to so many of these; `all` for other axes.
  std::int64_t extent(std::string_view axis, std::int64_t n, std::int64_t all) const;
};

// The one that divides the work best among so many machines; of equal ones, that which more of the
// tensors have, so that fewer are copied to all.
independent_axis independent_axis_of(const parts &, const qkv_kernel &hop, int machines,
                                     const size_of_axis &);

}  // namespace qkv::ring
