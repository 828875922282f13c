#pragma once
// Which steps stand inside a scan: what they compute belongs to one position of it.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Per step: the axis that the scan around it walks, -1 outside of scans.
std::vector<axis_id> walked_axes(const program &);

// Throws std::invalid_argument where a state or an element is used outside of its step, and where a scan stands inside the
// step of another.
void check_scans(const program &);

}  // namespace qkv::codegen
