// SPDX-License-Identifier: BSL-1.0
#pragma once
// Text that the model writes, a character at a time.
#include <string>

#include "text.hpp"
#include "weights.hpp"

namespace my {

// `length` characters that follow `begin`, each drawn with the probabilities of logits /
// temperature. Cost: one call of the model for each character. Errors: std::runtime_error with
// what the kernel says, or when no character of `begin` is known.
std::string sample(const text &, const weights &, random_numbers &, const std::string &begin,
                   int length, double temperature);

}  // namespace my
