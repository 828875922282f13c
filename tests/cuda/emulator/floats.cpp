// SPDX-License-Identifier: BSL-1.0
// Arithmetic on f32 and f64: exactly rounded operations, approximate functions.
#include <bit>
#include <cmath>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/operations.hpp"

namespace qkv::ptx {
namespace {

// Approximate functions are exact to float, then off by up to PTX_ULPS, by a hash of the argument.

int ulps = -1;
float off(double exact, float argument) {
  if (ulps < 0) ulps = settings::from_environment().ulps;
  if (ulps == 0) return static_cast<float>(exact);
  auto h = std::bit_cast<std::uint32_t>(argument) * 2654435761u;
  h ^= h >> 15;
  const double e = (static_cast<double>(h & 0xffff) / 32767.5 - 1) * ulps * 0x1p-24;
  return static_cast<float>(exact * (1 + e));
}
template <auto F>
void approximate(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<float>(w, i);
  const auto *a = src<float>(w, i, 0);
  const bool ftz = i.a;  // i.a: .ftz
  for_lanes(m, [&](int l) {
    float x = get<float>(a, l);
    if (ftz) x = flush(x);
    const float y = off(F(static_cast<double>(x)), x);
    put<float>(d, l, ftz ? flush(y) : y);
  });
}

float least(float a, float b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
float most(float a, float b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}

template <bool Max, bool Nan>
void extreme(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<float>(w, i);
  const auto *a = src<float>(w, i, 0), *b = src<float>(w, i, 1);
  for_lanes(m, [&](int l) {
    const float x = get<float>(a, l), y = get<float>(b, l);
    const float r = Max ? most(x, y) : least(x, y);
    put<float>(d, l, Nan && (std::isnan(x) || std::isnan(y)) ? NAN : r);
  });
}

}  // namespace

bool decode_float(decoder &d, const statement &s, instruction &i) {
  const type t = last_type(s);
  if (!is_float(t)) return false;
  const std::string &op = s.op;
  const bool ftz = s.has("ftz"), sat = s.has("sat");
  for (const char *r : {"rz", "rm", "rp"})
    if (s.has(r)) d.refuse(s, "rounding is not supported");
  i.what = t == type::f64 ? kind::fp64 : kind::fp32;
  const auto pick = [&](handler plain_one, handler flushed, handler saturated) {
    d.plain(i, s, t);
    i.run = sat ? saturated : ftz && t == type::f32 ? flushed : plain_one;
    if (!i.run) d.refuse(s, "not supported");
    return true;
  };
  if (op == "add")
    return pick(
        binary_float<[](auto a, auto b) { return a + b; }>(t),
        binary<float, [](float a, float b) { return flush(flush(a) + flush(b)); }>,
        binary<float, [](float a, float b) { return std::fmin(std::fmax(a + b, 0.f), 1.f); }>);
  if (op == "sub")
    return pick(binary_float<[](auto a, auto b) { return a - b; }>(t),
                binary<float, [](float a, float b) { return flush(flush(a) - flush(b)); }>,
                nullptr);
  if (op == "mul")
    return pick(
        binary_float<[](auto a, auto b) { return a * b; }>(t),
        binary<float, [](float a, float b) { return flush(flush(a) * flush(b)); }>,
        binary<float, [](float a, float b) { return std::fmin(std::fmax(a * b, 0.f), 1.f); }>);
  if (op == "fma" || op == "mad")
    return pick(
        t == type::f64
            ? ternary<double, [](double a, double b, double c) { return __builtin_fma(a, b, c); }>
            : ternary<float, [](float a, float b, float c) { return __builtin_fmaf(a, b, c); }>,
        ternary<float, [](float a, float b,
                          float c) { return flush(__builtin_fmaf(flush(a), flush(b), flush(c))); }>,
        ternary<float, [](float a, float b, float c) {
          return std::fmin(std::fmax(__builtin_fmaf(a, b, c), 0.f), 1.f);
        }>);
  if (op == "div")
    return pick(binary_float<[](auto a, auto b) { return a / b; }>(t),
                binary<float, [](float a, float b) { return flush(flush(a) / flush(b)); }>,
                nullptr);
  if (op == "min" || op == "max") {
    d.plain(i, s, t);
    if (t == type::f64)
      i.run = op == "min" ? binary<double, [](double a, double b) { return std::fmin(a, b); }>
                          : binary<double, [](double a, double b) { return std::fmax(a, b); }>;
    else if (op == "max")
      i.run = s.has("NaN") ? extreme<true, true> : extreme<true, false>;
    else
      i.run = s.has("NaN") ? extreme<false, true> : extreme<false, false>;
    return true;
  }
  if (op == "neg")
    return pick(t == type::f64 ? unary<double, [](double a) { return -a; }>
                               : unary<float, [](float a) { return -a; }>,
                unary<float, [](float a) { return -flush(a); }>, nullptr);
  if (op == "abs")
    return pick(t == type::f64 ? unary<double, [](double a) { return std::fabs(a); }>
                               : unary<float, [](float a) { return std::fabs(a); }>,
                unary<float, [](float a) { return std::fabs(flush(a)); }>, nullptr);
  if (op == "copysign")
    return pick(binary_float<[](auto a, auto b) { return std::copysign(b, a); }>(t), nullptr,
                nullptr);
  // special functions
  if (s.has("approx") || op == "ex2" || op == "lg2" || op == "sin" || op == "cos" || op == "tanh" ||
      op == "rsqrt") {
    if (t != type::f32) d.refuse(s, "not supported");
    d.plain(i, s, t);
    i.what = kind::special;
    i.a = ftz;
    i.run = op == "ex2"     ? approximate<[](double x) { return std::exp2(x); }>
            : op == "lg2"   ? approximate<[](double x) { return std::log2(x); }>
            : op == "sin"   ? approximate<[](double x) { return std::sin(x); }>
            : op == "cos"   ? approximate<[](double x) { return std::cos(x); }>
            : op == "tanh"  ? approximate<[](double x) { return std::tanh(x); }>
            : op == "rsqrt" ? approximate<[](double x) { return 1 / std::sqrt(x); }>
            : op == "rcp"   ? approximate<[](double x) { return 1 / x; }>
            : op == "sqrt"  ? approximate<[](double x) { return std::sqrt(x); }>
                            : handler(nullptr);
    return i.run != nullptr;
  }
  if (op == "rcp")
    return pick(t == type::f64 ? unary<double, [](double a) { return 1 / a; }>
                               : unary<float, [](float a) { return 1 / a; }>,
                unary<float, [](float a) { return flush(1 / flush(a)); }>, nullptr);
  if (op == "sqrt")
    return pick(t == type::f64 ? unary<double, [](double a) { return std::sqrt(a); }>
                               : unary<float, [](float a) { return std::sqrt(a); }>,
                unary<float, [](float a) { return std::sqrt(flush(a)); }>, nullptr);
  return false;
}

}  // namespace qkv::ptx
