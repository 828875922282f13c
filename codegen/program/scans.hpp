#pragma once
// The steps inside a scan: each value of such a step belongs to one position of the scan.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Per step: the axis of the scan around it, -1 outside of scans.
std::vector<axis_id> walked_axes(const program &);

// Throws std::invalid_argument where a state or an element is used outside of its step, and where a
// scan is inside the step of another.
void check_scans(const program &);

}  // namespace qkv::codegen
