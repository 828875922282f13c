// SPDX-License-Identifier: BSL-1.0
#pragma once
// The slips of attention by a formula.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {

inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;

template <class Kernel>
std::string slips_in(const Kernel &k) {
  return lines_of(codegen::make_program(k));
}

// Slips of out = Formula(Q[seq, d], K[kv, d], V[kv, e]).
inline constexpr axis<"d", 8> d8;
inline constexpr axis<"e", 4> e4;
template <auto Formula>
std::string of_attention() {
  const auto k =
      kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K,
                     in<"V", kv, e4> V) -> out<"O", seq, e4> { return Formula(Q, K, V); });
  return lines_of(codegen::make_program(k));
}

}  // namespace qkv::testing::slips
