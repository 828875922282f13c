// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels in the tool of another build: for another processor under its emulator, or on another
// machine that sees the same files.
#include <string>
#include <vector>

#include "tool/commands.hpp"

namespace qkv::tool {

// Has `<tool> run <kernel> --in .. --out ..` compute the results of these arguments, through NumPy
// files in a folder of its own. Throws refusal where it fails, with its exit code; the reason is on
// stderr then.
void run_by_tool(const request &, const kernel_sizes &, std::vector<value> &arguments);

}  // namespace qkv::tool
