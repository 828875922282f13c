// SPDX-License-Identifier: BSL-1.0
#pragma once
// Arguments of a kernel from files.
#include <qkv/npy.hpp>

#include "tool/commands.hpp"

namespace qkv::tool {

// Inputs and params as --in names them, in the order of the signature; results stay empty. Prints
// a line for each to `words`; sizes become those of the files. Throws refusal where a file is
// missing or does not fit.
std::vector<value> inputs_from_files(const request &, kernel_sizes &, std::string &words);

// Throws refusal where one of these names is not that of an argument, or of a result.
enum class among : unsigned char { all, results };
void require_names(const qkv_kernel &, const std::map<std::string, std::string> &by_name, among);

// "f32 [2, 10, 64]"
std::string shape_text(npy_type, const std::vector<std::int64_t> &shape);

}  // namespace qkv::tool
