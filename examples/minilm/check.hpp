// SPDX-License-Identifier: BSL-1.0
#pragma once
// The original's sentences through this encoder, compared with the original's results.
#include "encoder.hpp"
#include "expected.hpp"
#include "tokenizer.hpp"

namespace minilm {

// Prints one line for tokens, attention and each sentence's cosine; false when one is not as the
// original's.
bool equals_original(const tokenizer &, const encoder &, const original &);

}  // namespace minilm
