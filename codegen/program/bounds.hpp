#pragma once
// Bounds of what positions, sizes and constants alone decide: index(seq) * 3 + size(kv).
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// No call has a longer axis: runtime/check.cpp refuses it.
inline constexpr std::int64_t longest_axis = (std::int64_t{1} << 31) - 4096;

struct bounds {
  double least, most;
};

// Per step, over all sizes that a call may have; arithmetic of i32 as if it were exact. Nothing for
// steps in which inputs take part, or of which no bound is known.
std::vector<std::optional<bounds>> bounds_of_positions(const program &);

// True if all of it is within i32.
bool fits_i32(const bounds &);

// Per step: true for arithmetic of i32 that wraps around. Other arithmetic of i32 stays within its
// range in every call that is not refused (lower/position_ranges.hpp).
std::vector<bool> steps_that_wrap(const program &);

}  // namespace qkv::codegen
