// SPDX-License-Identifier: BSL-1.0
#pragma once
// Gradients that are compiled: one for each way an attention, a layer or a table is differentiated.
#include <qkv/dsl.hpp>

#include "tests/kernels/dropout_specs.hpp"
#include "tests/kernels/scan_specs.hpp"
#include "tests/kernels/specs.hpp"

namespace gradients {
using namespace qkv;

inline constexpr auto of_full = gradient<specs::full>;
inline constexpr auto of_causal = gradient<specs::causal_self>;
inline constexpr auto of_grouped = gradient<specs::grouped>;
inline constexpr auto of_softcapped = gradient<specs::softcapped>;
inline constexpr auto of_biased = gradient<specs::biased>;
inline constexpr auto of_relative_table = gradient<specs::relative_table>;
inline constexpr auto of_bahdanau = gradient<specs::bahdanau>;
inline constexpr auto of_linear_attention = gradient<specs::linear_attention>;
inline constexpr auto of_document = gradient<specs::document>;
inline constexpr auto of_dropped_weights = gradient<dropped::dropped_weights>;
inline constexpr auto of_layer = gradient<specs::multi_head>;
inline constexpr auto of_embedded = gradient<specs::embedded>;
// Adjoints of 16 bits, summed up in f32 and rounded once.
inline constexpr auto of_stored_bf16 = gradient<specs::stored_bf16>;
inline constexpr auto of_stored_f16 = gradient<specs::stored_f16>;
// The slope of a head sums over all pairs; the query of a pooling has no rows.
inline constexpr auto of_alibi = gradient<specs::alibi>;
inline constexpr auto of_pooling = gradient<specs::pooling, "X">;

// Each row takes one element of its own: its adjoint is a comparison, not a sum at positions.
inline constexpr auto cross_entropy =
    kernel<"cross_entropy">([](in<"logits", specs::batch, specs::seq, specs::d_k> logits,
                               in<"next", i32, specs::batch, specs::seq> next) -> out<"loss"> {
      return mean<specs::batch, specs::seq>(logsumexp<specs::d_k>(logits) -
                                            take<specs::d_k>(logits, next));
    });
inline constexpr auto of_cross_entropy = gradient<cross_entropy>;

// The presence of the adjoint of a masked relu depends on the product, that of its result does not.
inline constexpr auto relu_masked =
    kernel<"relu_masked">([](in<"Q", specs::batch, specs::seq, specs::d_k> Q,
                             in<"K", specs::batch, specs::mem, specs::d_k> K,
                             in<"V", specs::batch, specs::mem, specs::odd_v> V,
                             in<"keep", b8, specs::batch, specs::mem> keep)
                              -> out<"O", specs::batch, specs::seq, specs::odd_v> {
      return dot<specs::mem>(mask(relu(dot<specs::d_k>(Q, K)), keep), V);
    });
inline constexpr auto of_relu_masked = gradient<relu_masked>;

// Values that are also what results are multiplied with: a product of products for each pair.
inline constexpr auto values_twice = kernel<"values_twice">(
    [](in<"Z", specs::kv, specs::d_k> Z, in<"X", specs::seq, specs::odd_k> X,
       param<"W", specs::odd_k, specs::d_k> W) -> out<"O", specs::kv, specs::seq> {
      auto w = softmax<specs::seq>(dot<specs::d_k>(Z, dot<specs::odd_k>(X, W)));
      return dot<specs::odd_k>(dot<specs::seq>(w, X), X);
    });
inline constexpr auto of_values_twice = gradient<values_twice>;

// Queries, keys and values are one tensor: its gradient is made of all sums of one walk.
inline constexpr auto itself =
    kernel<"itself">([](in<"X", specs::batch, specs::seq, specs::odd_k> X)
                         -> out<"Y", specs::batch, specs::seq, specs::odd_k> {
      auto K = rename<specs::seq, specs::kv>(X);
      return scaled_dot_product<specs::odd_k, specs::kv>(X, K, K, causal<specs::seq, specs::kv>);
    });
inline constexpr auto of_itself = gradient<itself>;

// Blocks that a mask of data hides are skipped.
inline constexpr auto of_packed = gradient<specs::packed>;

// A number for each key sums over the rows alone.
inline constexpr auto key_bias =
    kernel<"key_bias">([](in<"Q", specs::batch, specs::seq, specs::odd_k> Q,
                          in<"K", specs::batch, specs::kv, specs::odd_k> K,
                          in<"V", specs::batch, specs::kv, specs::odd_v> V,
                          in<"bias", specs::kv> bias, in<"scale", specs::batch, specs::kv> scale)
                           -> out<"O", specs::batch, specs::seq, specs::odd_v> {
      auto s = dot<specs::odd_k>(Q, K) / sqrt(specs::odd_k) * scale + bias;
      return dot<specs::kv>(softmax<specs::kv>(mask(s, causal<specs::seq, specs::kv>)), V);
    });
inline constexpr auto of_key_bias = gradient<key_bias>;

// Gradients of biases have a number for each pair, which the walk stores: for each batch and head,
// as a sum over the batch, and as one over both, whose rows are the keys.
inline constexpr auto trained_biases =
    kernel<"trained_biases">([](in<"Q", specs::batch, specs::heads, specs::seq, specs::d_k> Q,
                                in<"K", specs::batch, specs::heads, specs::kv, specs::d_k> K,
                                in<"V", specs::batch, specs::heads, specs::kv, specs::odd_v> V,
                                in<"each", specs::batch, specs::heads, specs::seq, specs::kv> each,
                                param<"by_head", specs::heads, specs::seq, specs::kv> by_head,
                                param<"shared", specs::kv, specs::seq> shared)
                                 -> out<"O", specs::batch, specs::heads, specs::seq, specs::odd_v> {
      auto s = dot<specs::d_k>(Q, K) / sqrt(specs::d_k) + each + by_head + shared;
      return dot<specs::kv>(softmax<specs::kv>(s), V);
    });
inline constexpr auto of_trained_biases = gradient<trained_biases>;
// The same where masks hide pairs, other ones in each batch.
inline constexpr auto hidden_bias = kernel<"hidden_bias">(
    [](in<"Q", f64, specs::batch, specs::seq, specs::d_k> Q,
       in<"K", f64, specs::batch, specs::kv, specs::d_k> K,
       in<"V", f64, specs::batch, specs::kv, specs::odd_v> V,
       in<"length", i32, specs::batch> length, param<"bias", f64, specs::seq, specs::kv> bias)
        -> out<"O", f64, specs::batch, specs::seq, specs::odd_v> {
      auto s = dot<specs::d_k>(Q, K) / sqrt(specs::d_k) + bias;
      auto keep = causal<specs::seq, specs::kv> and padding<specs::kv>(length);
      return dot<specs::kv>(softmax<specs::kv>(mask(s, keep)), V);
    });
inline constexpr auto of_hidden_bias = gradient<hidden_bias>;
// A table of distances behind a mask: its pairs are put where they are computed.
inline constexpr auto hidden_table = kernel<"hidden_table">(
    [](specs::Q_ Q, in<"K", specs::batch, specs::heads, specs::kv, specs::d_k> K,
       in<"V", specs::batch, specs::heads, specs::kv, specs::d_v> V,
       param<"table", specs::heads, specs::positions> table)
        -> out<"O", specs::batch, specs::heads, specs::seq, specs::d_v> {
      auto bias = take<specs::positions>(table, index(specs::kv) - index(specs::seq) + 23);
      auto s = mask(dot<specs::d_k>(Q, K) + bias, causal<specs::seq, specs::kv>);
      return dot<specs::kv>(softmax<specs::kv>(s), V);
    });
inline constexpr auto of_hidden_table = gradient<hidden_table>;
// A table at positions of the call, some of which lie beside it; masks hide others.
inline constexpr auto looked_up = [](
    in<"Q", specs::batch, specs::seq, specs::d_k> Q, in<"K", specs::batch, specs::kv, specs::d_k> K,
    in<"V", specs::batch, specs::kv, specs::odd_v> V, param<"table", specs::odd_k> table,
    in<"at", i32, specs::batch, specs::seq, specs::kv> at)
    -> out<"O", specs::batch, specs::seq, specs::odd_v> {
  auto s = dot<specs::d_k>(Q, K) + take<specs::odd_k>(table, at);
  return dot<specs::kv>(softmax<specs::kv>(mask(s, causal<specs::seq, specs::kv>)), V);
};
inline constexpr auto at_positions = kernel<"at_positions">(looked_up);
inline constexpr auto of_at_positions = gradient<at_positions>;
inline constexpr auto at_positions_of_rows = kernel<"at_positions_of_rows">(looked_up);
inline constexpr auto of_table_and_queries = gradient<at_positions_of_rows, "Q", "table">;
inline constexpr auto at_positions_alone = kernel<"at_positions_alone">(looked_up);
inline constexpr auto of_table_alone = gradient<at_positions_alone, "table">;

// Recurrences: adjoints of the states are a scan from the end.
inline constexpr auto of_elman = gradient<scans::elman>;
inline constexpr auto of_gated_delta = gradient<scans::gated_delta>;
inline constexpr auto of_selective = gradient<scans::selective>;
inline constexpr auto of_widths_of_call = gradient<scans::widths_of_call>;

}  // namespace gradients
