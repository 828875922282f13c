// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sizes of axes: those known from the spec, those that follow from the arguments, and the
// conditions on them.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

using size_map = std::map<std::string, std::int64_t, std::less<>>;  // by the names of axes

// The axes whose size the call decides, aliases left out.
std::vector<axis_id> run_time_axes(const program &);

// Per axis; -1: not known.
std::vector<std::int64_t> static_sizes(const program &);

// Static sizes, the given ones, and those that aliases and conditions imply. Names that are not
// axes are ignored. Throws std::invalid_argument with a text in terms of axes where sizes disagree
// or a condition fails.
std::vector<std::int64_t> resolve_sizes(const program &, const size_map &given);

// The same, and every axis must be known.
std::vector<std::int64_t> all_sizes(const program &, const size_map &given);

// Throws std::runtime_error if neither an argument nor a condition determines the size of some
// axis.
void require_sizes(const program &);

bool holds(const condition &, const std::vector<std::int64_t> &size);
// "split<d_model, heads, d_k>: d_model is 500 but heads * d_k is 8 * 64"
std::string explain(const program &, const condition &, const std::vector<std::int64_t> &size);

// Elements of a shape.
std::int64_t elements(const std::vector<axis_id> &shape, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
