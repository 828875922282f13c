// SPDX-License-Identifier: BSL-1.0
// setp: comparisons of integers and of floating-point numbers, combined with a predicate.
#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/operations.hpp"

namespace qkv::ptx {
namespace {

// i.a: combined with a third operand by 1 and, 2 or, 3 xor; i.b: that operand is negated

template <class T, auto F>
void compare(warp &w, const instruction &i, lane_mask m) {
  auto *p = dst<std::uint32_t>(w, i);
  const auto *a = src<T>(w, i, 0), *b = src<T>(w, i, 1);
  if (i.a == 0 && i.destinations == 1) {
    for_lanes(m, [&](int l) { p[l] = F(get<T>(a, l), get<T>(b, l)); });
    return;
  }
  auto *q = i.destinations > 1 ? dst<std::uint32_t>(w, i, 1) : nullptr;
  const auto *c = i.a ? src<std::uint32_t>(w, i, 2) : nullptr;
  for_lanes(m, [&](int l) {
    const std::uint32_t r = F(get<T>(a, l), get<T>(b, l)), x = c ? c[l] ^ i.b : 0;
    const auto with = [&](std::uint32_t v) {
      return i.a == 1 ? v & x : i.a == 2 ? v | x : i.a == 3 ? v ^ x : v;
    };
    p[l] = with(r);
    if (q) q[l] = with(r ^ 1);
  });
}
template <auto F>
handler compare_of(type t) {
  switch (t) {
    case type::f32:
      return compare<float, F>;
    case type::f64:
      return compare<double, F>;
    case type::s16:
      return compare<std::int16_t, F>;
    case type::s32:
      return compare<std::int32_t, F>;
    case type::s64:
      return compare<std::int64_t, F>;
    default:
      break;
  }
  return size_of(t) == 2   ? compare<std::uint16_t, F>
         : size_of(t) == 4 ? compare<std::uint32_t, F>
         : size_of(t) == 8 ? compare<std::uint64_t, F>
                           : nullptr;
}
template <bool B16, auto F>
void compare_half(warp &w, const instruction &i, lane_mask m) {
  auto *p = dst<std::uint32_t>(w, i);
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1);
  for_lanes(m, [&](int l) { p[l] = F(half_in<B16>(a[l]), half_in<B16>(b[l])); });
}
template <auto F>
handler compare_any(type t) {
  if (t == type::f16) return compare_half<false, F>;
  if (t == type::bf16) return compare_half<true, F>;
  return compare_of<F>(t);
}
handler comparison(const std::string &c, type t) {
  if (c == "eq") return compare_any<[](auto a, auto b) { return a == b; }>(t);
  if (c == "ne") {
    if (is_float(t) || is_half(t))
      return compare_any<[](auto a, auto b) { return (a < b || a > b); }>(t);
    return compare_of<[](auto a, auto b) { return a != b; }>(t);
  }
  if (c == "lt" || c == "lo") return compare_any<[](auto a, auto b) { return a < b; }>(t);
  if (c == "le" || c == "ls") return compare_any<[](auto a, auto b) { return a <= b; }>(t);
  if (c == "gt" || c == "hi") return compare_any<[](auto a, auto b) { return (a > b); }>(t);
  if (c == "ge" || c == "hs") return compare_any<[](auto a, auto b) { return (a >= b); }>(t);
  if (c == "equ") return compare_any<[](auto a, auto b) { return !(a < b || a > b); }>(t);
  if (c == "neu") return compare_any<[](auto a, auto b) { return a != b; }>(t);
  if (c == "ltu") return compare_any<[](auto a, auto b) { return !(a >= b); }>(t);
  if (c == "leu") return compare_any<[](auto a, auto b) { return !(a > b); }>(t);
  if (c == "gtu") return compare_any<[](auto a, auto b) { return !(a <= b); }>(t);
  if (c == "geu") return compare_any<[](auto a, auto b) { return !(a < b); }>(t);
  if (c == "num") return compare_any<[](auto a, auto b) { return a == a && b == b; }>(t);
  if (c == "nan") return compare_any<[](auto a, auto b) { return a != a || b != b; }>(t);
  return nullptr;
}

}  // namespace

bool decode_comparison(decoder &d, const statement &s, instruction &i) {
  if (s.op != "setp") return false;
  const auto types = types_of(s);
  if (types.empty()) d.refuse(s, "a type expected");
  i.what = is_float(types.back()) ? kind::fp32 : kind::integer;
  d.destinations(i, s.operands[0], type::pred);
  if (!s.operands[0].second.empty()) d.second_destination(i, s.operands[0]);
  d.sources(i, s.operands[1], types.back());
  d.sources(i, s.operands[2], types.back());
  i.a = s.has("and") ? 1 : s.has("or") ? 2 : s.has("xor") ? 3 : 0;
  if (i.a) {
    d.sources(i, s.operands[3], type::pred);
    i.b = s.operands[3].negated;
  }
  i.run = comparison(s.modifiers[0], types.back());
  return i.run != nullptr;
}

}  // namespace qkv::ptx
