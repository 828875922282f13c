// SPDX-License-Identifier: BSL-1.0
#pragma once
// The comparison of calls of different machines, before any data travel.
#include "ring/machine.hpp"

namespace qkv::ring {

// Every machine compares with the one before: the kernel and its parts, the layout, the schedule,
// the extents and the small whole numbers that all share. All get the status of the first one that
// differs.
status agree_on_call(machine &, std::int64_t shared_numbers);

// A hash of small inputs of whole numbers that all machines have: lengths, windows, seeds. Throws
// std::bad_alloc.
std::int64_t hash_of_shared(const machine &, std::span<const qkv_tensor> arguments);

}  // namespace qkv::ring
