#pragma once
// How long an encoder takes for a batch, in milliseconds.
#include <vector>

#include "encoder.hpp"

namespace minilm {

// Of so many calls, one after the other.
std::vector<double> latencies(const encoder &, const padded &, int calls);

// The median of about as many calls as fit into `seconds`, at least three, after a first one.
double median_latency(const encoder &, const padded &, double seconds);

}  // namespace minilm
