// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tokens of one machine: its rows of whole tensors, and the reverse.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <qkv/ring.hpp>
#include <random>

#include "spec.hpp"

namespace examples {

using queries = qkv::tensor<my::heads, my::seq, my::d_k>;
using keys = qkv::tensor<my::heads, my::kv, my::d_k>;

template <class Tensor>
Tensor random(std::int64_t n, unsigned seed) {
  Tensor t({n});
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(bits);
  return t;
}

// Calls copy(own row, row of all) for each token of a machine.
template <class Copy>
void for_tokens(std::span<const qkv::ring::positions> runs, const Copy &copy) {
  std::int64_t own = 0;
  for (const qkv::ring::positions &r : runs)
    for (std::int64_t k = 0; k < r.n; ++k) copy(own++, r.first + k);
}

template <class Tensor>
void copy_row(const Tensor &from, std::int64_t i, Tensor &to, std::int64_t j) {
  for (int h = 0; h < 4; ++h)
    for (int c = 0; c < 32; ++c) to(h, j, c) = from(h, i, c);
}

template <class Tensor>
Tensor part_of(const Tensor &all, std::span<const qkv::ring::positions> runs, std::int64_t n) {
  Tensor own({n});
  for_tokens(runs,
             [&](std::int64_t mine, std::int64_t of_all) { copy_row(all, of_all, own, mine); });
  return own;
}

// The call of one machine; its results go to their rows of `O`.
inline qkv::status attend(qkv::ring::transport &machine, const qkv::ring::layout &where,
                          const qkv::ring::settings &how, const queries &Q, const keys &K,
                          const keys &V, queries &O) {
  const int m = machine.rank();
  const std::int64_t n = where.n_queries(m);
  const queries own_Q = part_of(Q, where.queries(m), n);
  const keys own_K = part_of(K, where.keys(m), n), own_V = part_of(V, where.keys(m), n);
  queries own_O({n});
  const qkv::status s =
      qkv::ring::call<my::attention>(machine, where, how, own_Q, own_K, own_V, own_O);
  for_tokens(where.queries(m),
             [&](std::int64_t mine, std::int64_t of_all) { copy_row(own_O, mine, O, of_all); });
  return s;
}

// The largest difference of the rows of these runs.
inline float difference(const queries &a, const queries &b,
                        std::span<const qkv::ring::positions> runs) {
  float most = 0;
  for_tokens(runs, [&](std::int64_t, std::int64_t i) {
    for (int h = 0; h < 4; ++h)
      for (int c = 0; c < 32; ++c) most = std::max(most, std::abs(a(h, i, c) - b(h, i, c)));
  });
  return most;
}

}  // namespace examples
