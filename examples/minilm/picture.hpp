// SPDX-License-Identifier: BSL-1.0
#pragma once
// The attention of one sentence's tokens to each other, drawn.
#include <string>
#include <vector>

#include "encoder.hpp"

namespace minilm {

// An SVG file: the first layer's weights, averaged over its heads.
std::string attention_picture(const encoder &, const std::vector<std::int32_t> &ids,
                              const std::vector<std::string> &tokens);

}  // namespace minilm
