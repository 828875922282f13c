// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ceiling that benchmarks are divided by.

namespace qkv::tool {

struct fma_peak {
  double gflops = 0;  // 0 where the machine has no known instruction set
  const char *isa = "";
};

// fp32 fused multiply-adds on registers, with the widest instructions of this CPU, on this many
// threads. About 50 ms.
fma_peak measure_peak(int threads);

}  // namespace qkv::tool
