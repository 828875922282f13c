// SPDX-License-Identifier: BSL-1.0
// Element types: which parse, and the type that each operation gives.
#include "spec.hpp"

namespace {

using namespace spec;

template <class T>
constexpr dtype type_of = detail::of<std::remove_const_t<T>>.m.type;

constexpr in<"half", f16, batch, seq> half;
constexpr in<"brain", bf16, batch, seq> brain;
constexpr in<"wide", f64, batch, seq> wide;
constexpr in<"real", batch, seq> real;
constexpr in<"count", i32, batch, seq> count;
constexpr in<"flag", b8, batch, seq> flag;

static_assert(type_of<decltype(half)> == f16 && type_of<decltype(brain)> == bf16 &&
              type_of<decltype(real)> == f32);

// 16-bit storage computes in f32; f64 stays.
static_assert(type_of<decltype(half * brain)> == f32 &&
              type_of<decltype(wide + cast<f64>(real))> == f64 &&
              type_of<decltype(exp(brain))> == f32);
static_assert(type_of<decltype(dot<seq>(half, half))> == f32 &&
              type_of<decltype(sum<seq>(brain))> == f32);

// Whole numbers stay whole, but for / and pow and what no whole number has.
static_assert(type_of<decltype(count + count)> == i32 && type_of<decltype(count * 2)> == i32 &&
              type_of<decltype(count * 2.f)> == f32);
static_assert(type_of<decltype(count / count)> == f32 && type_of<decltype(pow(count, 2))> == f32 &&
              type_of<decltype(count + real)> == f32);
static_assert(type_of<decltype(-count)> == i32 && type_of<decltype(abs(count))> == i32 &&
              type_of<decltype(exp(count))> == f32);
static_assert(type_of<decltype(sum<seq>(count))> == i32 &&
              type_of<decltype(mean<seq>(count))> == f32 &&
              type_of<decltype(max<seq>(count))> == i32);
static_assert(type_of<decltype(index(seq))> == i32 && type_of<decltype(size(seq))> == i32 &&
              type_of<decltype(sqrt(seq))> == f32);
static_assert(type_of<decltype(index(kv) - index(seq))> == i32 &&
              type_of<decltype(0.5f * index(kv))> == f32);

// Comparisons make b8; b8 counts as 0 and 1.
static_assert(type_of<decltype(count < 3)> == b8 && type_of<decltype(!flag)> == b8 &&
              type_of<decltype(flag and flag)> == b8);
static_assert(type_of<decltype(flag * real)> == f32 && type_of<decltype(sum<seq>(flag))> == i32);
static_assert(type_of<decltype(where(flag, 1, 2))> == i32 &&
              type_of<decltype(where(flag, real, 0))> == f32);
static_assert(type_of<decltype(cast<i32>(real))> == i32 &&
              type_of<decltype(cast<bf16>(real))> == bf16);
static_assert(type_of<decltype(softmax<seq>(count))> == f32 &&
              type_of<decltype(mask(real, flag))> == f32);

// Positions, sizes and numbers are as precise as the f64 that they meet.
constexpr auto only_f64 =
    kernel<"only_f64">([](in<"X", f64, batch, seq> X) -> out<"Y", f64, batch, seq> {
      return (X + 0.1) / sqrt(seq) * (0.5 * index(seq));
    });
static_assert([] {
  for (const core::node &n : only_f64.trace())
    if (n.type == f32) return false;
  return true;
}());

// They are allowed in signatures.
constexpr auto mixed = kernel<"mixed">(
    [](in<"K", bf16, batch, kv, d_k> K,
       param<"W", f16, d_k, d_v> W) -> out<"O", bf16, batch, kv, d_v> { return dot<d_k>(K, W); });
static_assert(mixed.arguments[0].type == bf16 && mixed.arguments[1].type == f16 &&
              mixed.outputs[0].type == bf16);
static_assert(mixed.arguments[1].what == core::role::param && mixed.trace()[2].type == f32 &&
              mixed.trace()[4].type == bf16);

}  // namespace
