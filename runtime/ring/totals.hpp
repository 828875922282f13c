// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over the tokens of all machines.
#include "ring/machine.hpp"

namespace qkv::ring {

// Each machine has sums over its own tokens, and gets those over all: the same bits everywhere.
// Each joins a share of the elements, in the order of the machines. Cost: these tensors twice
// through each link, less one share.
status join_totals(machine &, int round, const std::vector<std::string> &names);

}  // namespace qkv::ring
