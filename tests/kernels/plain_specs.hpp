// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels of which loops of C++ write all stages that they can, under names of their own: programs
// link the same ones by Halide, too.
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

// One stage alone: the second of these.
inline constexpr auto second_of_layer_norm = called<"second_of_layer_norm">(specs::layer_norm);
inline constexpr auto second_of_feed_forward =
    called<"second_of_feed_forward">(specs::feed_forward);
inline constexpr auto second_of_multi_head = called<"second_of_multi_head">(specs::multi_head);
inline constexpr auto second_of_linear = called<"second_of_linear">(orders::linear_either_way);
inline constexpr auto second_of_absorbed = called<"second_of_absorbed">(orders::absorbed);

}  // namespace plain
