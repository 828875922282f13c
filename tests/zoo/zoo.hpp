// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shared by the tests of attention variants: axes, sizes to try, arguments, one row of attention as
// a plain loop.
#include <qkv/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_k", 6> d_k;
inline constexpr axis<"d_v", 5> d_v;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, mem, d_k>;
using V_ = in<"V", batch, heads, mem, d_v>;
using K_self = in<"K", batch, heads, kv, d_k>;
using V_self = in<"V", batch, heads, kv, d_v>;
using S_ = in<"S", batch, heads, seq, mem>;  // scores
using S_self = in<"S", batch, heads, seq, kv>;
using O_ = out<"O", batch, heads, seq, d_v>;

using std::int64_t;

// Queries, keys. Under sanitizers (QKV_FEWER_SIZES), sizes that cost most of the time and take no
// other path through the interpreter are left out. ./run test has no other build of this folder;
// with --long, the one with g++ tries all sizes.
struct pair_of_sizes {
  int64_t n, m;
};
inline constexpr pair_of_sizes pairs_of_sizes[] = {
    {1, 1},  {1, 2},  {2, 1},   {2, 2},   {2, 3},   {3, 2}, {3, 3}, {5, 5}, {5, 7},
    {7, 5},  {1, 17}, {17, 1},  {5, 17},  {17, 17}, {0, 3}, {3, 0}, {0, 0},
#ifndef QKV_FEWER_SIZES
    {7, 33}, {33, 7}, {33, 33}, {13, 11},
#endif
};
// Positions of self-attention.
inline constexpr int64_t self_sizes[] = {0, 1,  2,  3,  4,  5,  6,  7,  8, 15, 16, 17,
#ifndef QKV_FEWER_SIZES
                                         9, 10, 11, 12, 13, 23, 31, 32, 33
#endif
};

// Random numbers for every argument of the kernel but those given.
template <class Kernel>
arrays arguments_of(const Kernel &kernel, const codegen::size_map &sizes, arrays given = {}) {
  const codegen::program p = codegen::make_program(kernel);
  uint64_t seed = 1;
  for (const auto &[name, size] : sizes) seed = seed * 41 + static_cast<uint64_t>(size);
  arrays a = random_arguments(p, sizes, seed_or(seed));
  for (auto &[name, array] : given) a[name] = array;
  return a;
}

// sum over k < n of f(k).
template <class F>
double sum_of(int64_t n, F f) {
  double s = 0;
  for (int64_t k = 0; k < n; ++k) s += f(k);
  return s;
}

inline constexpr auto all = [](int64_t) { return true; };

// log of the sum of exp(score(j)) over the j < m that are seen; -inf when none is.
template <class Score, class Seen>
double lse_of(int64_t m, Score score, Seen seen) {
  double top = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < m; ++j)
    if (seen(j)) top = std::max(top, score(j));
  if (std::isinf(top)) return top;
  return top +
         std::log(sum_of(m, [&](int64_t j) { return seen(j) ? std::exp(score(j) - top) : 0; }));
}

// One element of attention: the mean of value(j) with weights exp(score(j)); 0 when nothing is
// seen.
template <class Score, class Value, class Seen>
double attended(int64_t m, Score score, Value value, Seen seen) {
  const double lse = lse_of(m, score, seen);
  return sum_of(m, [&](int64_t j) { return seen(j) ? std::exp(score(j) - lse) * value(j) : 0; });
}

// Q[b, h, i, :] . K[b, h, j, :] of the arguments above, over d_k.
inline double product(const arrays &a, const position &bhi, int64_t j) {
  return sum_of(6, [&](int64_t k) {
    return at(a.at("Q"), {bhi[0], bhi[1], bhi[2], k}) * at(a.at("K"), {bhi[0], bhi[1], j, k});
  });
}

// Every element of `got` against the formula.
#define QKV_SAME(got, shape, ...) CHECK(::qkv::testing::differs(got, shape, __VA_ARGS__) == "")

}  // namespace qkv::testing
