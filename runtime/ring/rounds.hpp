// SPDX-License-Identifier: BSL-1.0
#pragma once
// A round: the queries of every machine meet the keys of all machines.
#include "ring/hop.hpp"

namespace qkv::ring {

// Each ends with the states of this round among the tensors of the machine, but for totals, which
// are of its own pairs: their names are added to `totals`. After an error of its own, a machine
// passes keys on: the others do not wait for it, and all get its status.
using round_function = status (*)(machine &, int round, std::vector<std::string> &totals);
status ring_round(machine &, int round, std::vector<std::string> &totals);
status gather_round(machine &, int round, std::vector<std::string> &totals);
status heads_round(machine &, int round, std::vector<std::string> &totals);
status tree_round(machine &, int round, std::vector<std::string> &totals);

// The schedule of a call. Errors: unsupported.
status choose_schedule(const machine &, round_function &);

}  // namespace qkv::ring
