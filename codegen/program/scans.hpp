// SPDX-License-Identifier: BSL-1.0
#pragma once
// The steps inside a scan: each value of such a step belongs to one position of the scan.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Per step: the axis of the scan around it, -1 outside of scans.
std::vector<axis_id> walked_axes(const program &);

// The steps that one position computes for the next state and for these results (op::scan or
// op::last), operands first, without the state itself.
std::vector<node_id> scan_body(const program &, node_id carried, node_id next,
                               const std::vector<node_id> &results);

// Throws std::invalid_argument where a state or an element is used outside of its step, and where a
// scan is inside the step of another.
void check_scans(const program &);

}  // namespace qkv::codegen
