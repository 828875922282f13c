// SPDX-License-Identifier: BSL-1.0
#include "tool/peak.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace qkv::tool {
namespace {

constexpr int chains = 12;  // enough independent sums to hide the latency of two ports
constexpr long steps = 400'000;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiply_avx512() {
  __m512 sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
  for (long n = 0; n < steps; ++n) {
    for (int i = 0; i < chains; ++i) sum[i] = _mm512_fmadd_ps(sum[i], a, b);
    asm volatile("" : "+v"(a), "+v"(b));
  }
  asm volatile("" : : "m"(sum) : "memory");
}

__attribute__((target("avx2,fma"))) void multiply_avx2() {
  __m256 sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
  for (long n = 0; n < steps; ++n) {
    for (int i = 0; i < chains; ++i) sum[i] = _mm256_fmadd_ps(sum[i], a, b);
    asm volatile("" : "+x"(a), "+x"(b));
  }
  asm volatile("" : : "m"(sum) : "memory");
}
#endif

double best_seconds(int threads, void (*work)()) {
  double best = 1e30;
  for (int round = 0; round < 6; ++round) {
    std::vector<std::jthread> others;  // joined even if the next one does not start
    const auto begin = std::chrono::steady_clock::now();
    for (int t = 1; t < threads; ++t) others.emplace_back(work);
    work();
    others.clear();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

fma_peak measure_peak(int threads, bool of_f64) {
#if defined(__x86_64__)
  const double flops = (of_f64 ? 1.0 : 2.0) * static_cast<double>(steps) * chains * threads;
  if (__builtin_cpu_supports("avx512f"))
    return {flops * 16 / best_seconds(threads, multiply_avx512) * 1e-9, "avx512"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {flops * 8 / best_seconds(threads, multiply_avx2) * 1e-9, "avx2"};
#else
  (void)threads, (void)of_f64;
#endif
  return {};
}

}  // namespace qkv::tool
