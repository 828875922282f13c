#pragma once
// How long an encoder takes for a batch.
#include <vector>

#include "encoder.hpp"

namespace minilm {

// The median of as many calls as fit into `seconds`, at least three, after a first one; in milliseconds.
double median_latency(const encoder &, const padded &, double seconds);

}  // namespace minilm
