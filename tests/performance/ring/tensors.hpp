// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors of the benchmarks, and the clock of a thread.
#include <time.h>

#include <cstdint>
#include <qkv/tensor.hpp>
#include <random>

#include "spec.hpp"

namespace ring_bench {

using queries = qkv::tensor<heads, seq, d>;
using keys = qkv::tensor<heads, kv, d>;

// Processor time of the calling thread.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Tensor>
Tensor random(std::int64_t n) {
  Tensor t({n});
  std::mt19937 bits(7);
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(bits);
  return t;
}

}  // namespace ring_bench
