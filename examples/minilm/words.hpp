// SPDX-License-Identifier: BSL-1.0
#pragma once
// A text as the words that WordPiece takes apart: lower case, no accents, punctuation and Chinese
// characters alone.
#include <string>
#include <string_view>
#include <vector>

namespace minilm {

// UTF-8 in, UTF-8 out. Bytes that are none are left out.
std::vector<std::string> words_of(std::string_view text);

}  // namespace minilm
