// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels whose stages C++ loops compute where they can. Their own names let a program link the
// Halide versions beside them.
#include "order_specs.hpp"
#include "specs.hpp"

namespace plain {
using namespace qkv;

template <str Name, str Other, class Formula>
constexpr kernel_t<Name, Formula> called(kernel_t<Other, Formula>) {
  return {};
}

inline constexpr auto plain_layer_norm = called<"plain_layer_norm">(specs::layer_norm);
inline constexpr auto plain_feed_forward = called<"plain_feed_forward">(specs::feed_forward);
inline constexpr auto plain_statistics = called<"plain_statistics">(specs::statistics);
inline constexpr auto plain_multi_head = called<"plain_multi_head">(specs::multi_head);
inline constexpr auto plain_embedded = called<"plain_embedded">(specs::embedded);
inline constexpr auto plain_weights_out = called<"plain_weights_out">(specs::weights_out);
inline constexpr auto plain_linear_either_way =
    called<"plain_linear_either_way">(orders::linear_either_way);
inline constexpr auto plain_absorbed = called<"plain_absorbed">(orders::absorbed);
inline constexpr auto plain_stored_f16 = called<"plain_stored_f16">(specs::stored_f16);
inline constexpr auto plain_one_number = called<"plain_one_number">(specs::one_number);
inline constexpr auto plain_chosen_by_call = called<"plain_chosen_by_call">(specs::chosen_by_call);

// Removed scores in 16 bits are -infinity, and a constant of 16 bits is 1.
inline constexpr auto plain_masked_halves =
    kernel<"plain_masked_halves">([](in<"X", bf16, specs::batch, specs::seq, specs::d_k> X)
                                      -> outs<out<"S", bf16, specs::batch, specs::seq, specs::d_k>,
                                              out<"T", f16, specs::batch, specs::seq, specs::d_k>,
                                              out<"E", f16, specs::batch, specs::seq>> {
      auto s = mask(X, index(specs::d_k) <= index(specs::seq));
      return {s, s * 2, where(max<specs::d_k>(X) > 1, 1, 0)};
    });

// One stage alone: the second of these.
inline constexpr auto second_of_layer_norm = called<"second_of_layer_norm">(specs::layer_norm);
inline constexpr auto second_of_feed_forward =
    called<"second_of_feed_forward">(specs::feed_forward);
inline constexpr auto second_of_multi_head = called<"second_of_multi_head">(specs::multi_head);
inline constexpr auto second_of_linear = called<"second_of_linear">(orders::linear_either_way);
inline constexpr auto second_of_absorbed = called<"second_of_absorbed">(orders::absorbed);

}  // namespace plain
