// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ceiling that benchmarks are divided by.

namespace qkv::tool {

struct fma_peak {
  double gflops = 0;  // 0 where the machine has no known instruction set
  const char *isa = "";
};

// Fused multiply-adds of f32 on registers, with the widest instructions of this CPU, on this many
// threads; of f64, half of that: registers hold half as many. About 50 ms.
fma_peak measure_peak(int threads, bool of_f64 = false);

}  // namespace qkv::tool
