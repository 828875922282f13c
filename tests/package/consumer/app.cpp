// SPDX-License-Identifier: BSL-1.0
// Two items of equal score: their values' mean.
#include <cmath>
#include <cstdio>

#include <qkv/call.hpp>

#include "mine.hpp"

int main() {
  float scores[] = {1, 1}, values[] = {1, 2, 3, 4, 3, 4, 5, 6}, mean[4] = {};
  const qkv::tensor_view<qkv::f32, mine::items> S(scores, {2});
  const qkv::tensor_view<qkv::f32, mine::items, mine::d> V(values, {2, 4});
  const qkv::tensor_view<qkv::f32, mine::d> O(mean, {4});
  if (const qkv::status s = qkv::call<mine::pooled>(S, V, O); !s.ok()) {
    std::printf("%s\n", s.text());
    return 1;
  }
  for (int i = 0; i < 4; ++i)
    if (std::abs(mean[i] - (2.f + i)) > 1e-6f) return 1;
  return 0;
}
