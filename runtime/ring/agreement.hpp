// SPDX-License-Identifier: BSL-1.0
#pragma once
// The comparison of calls of different machines, before any data travel.
#include "ring/machine.hpp"

namespace qkv::ring {

// Every machine compares with the one before: the kernel, the layout, the schedule, the extents that
// all share. All get the status of the first one that differs.
status agree_on_call(machine &);

}  // namespace qkv::ring
