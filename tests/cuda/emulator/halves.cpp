// SPDX-License-Identifier: BSL-1.0
// Arithmetic on f16 and bf16, alone or in pairs. Computed in double, rounded once.
#include <cmath>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/operations.hpp"

namespace qkv::ptx {
namespace {

template <bool B16, int N, bool Pair, auto F>
void halves(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  const std::uint32_t *s[3];
  for (int n = 0; n < N; ++n) s[n] = src<std::uint32_t>(w, i, n);
  for_lanes(m, [&](int l) {
    std::uint32_t r = 0;
    for (int h = 0; h < (Pair ? 2 : 1); ++h) {
      double x[3] = {};
      for (int n = 0; n < N; ++n) x[n] = half_in<B16>(s[n][l] >> (16 * h) & 0xffff);
      r |= half_out<B16>(F(x[0], x[1], x[2])) << (16 * h);
    }
    d[l] = r;
  });
}
template <int N, auto F>
handler half_op(type t) {
  switch (t) {
    case type::f16:
      return halves<false, N, false, F>;
    case type::f16x2:
      return halves<false, N, true, F>;
    case type::bf16:
      return halves<true, N, false, F>;
    case type::bf16x2:
      return halves<true, N, true, F>;
    default:
      return nullptr;
  }
}

}  // namespace

bool decode_half(decoder &d, const statement &s, instruction &i) {
  const type t = last_type(s);
  if (!is_half(t)) return false;
  const std::string &op = s.op;
  i.what = kind::fp32;
  i.run = op == "add"    ? half_op<2, [](double a, double b, double) { return a + b; }>(t)
          : op == "sub"  ? half_op<2, [](double a, double b, double) { return a - b; }>(t)
          : op == "mul"  ? half_op<2, [](double a, double b, double) { return a * b; }>(t)
          : op == "fma"  ? half_op<3, [](double a, double b, double c) { return a * b + c; }>(t)
          : op == "min"  ? half_op<2, [](double a, double b, double) { return std::fmin(a, b); }>(t)
          : op == "max"  ? half_op<2, [](double a, double b, double) { return std::fmax(a, b); }>(t)
          : op == "neg"  ? half_op<1, [](double a, double, double) { return -a; }>(t)
          : op == "abs"  ? half_op<1, [](double a, double, double) { return std::fabs(a); }>(t)
          : op == "ex2"  ? half_op<1, [](double a, double, double) { return std::exp2(a); }>(t)
          : op == "tanh" ? half_op<1, [](double a, double, double) { return std::tanh(a); }>(t)
                         : handler(nullptr);
  if (!i.run) return false;
  d.plain(i, s, t);
  return true;
}

}  // namespace qkv::ptx
