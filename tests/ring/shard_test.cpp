// SPDX-License-Identifier: BSL-1.0
// Kernels whose tokens several machines share give the results of one machine.
#include <qkv/dsl.hpp>

#include "codegen/gradient/gradient.hpp"
#include "codegen/program/bounds.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/ring/shard.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/ring/same_results.hpp"

using namespace qkv;
using namespace qkv::testing;
using codegen::make_program;
using codegen::program;

namespace {

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 2> heads;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"mem"> mem;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 3> d_k;
inline constexpr axis<"d_v", 2> d_v;
inline constexpr axis<"d_model", 4> d_model;
inline constexpr batch_axis<"q_heads", 4> q_heads;
inline constexpr axis<"group", 2> group;

using Q_ = in<"Q", batch, seq, d_k>;
using K_ = in<"K", batch, mem, d_k>;
using V_ = in<"V", batch, mem, d_v>;
using O_ = out<"O", batch, seq, d_v>;

void check(const program &p, const std::string &query, const std::string &key) {
  CHECK(wrong_shares(p, query, key) == "");
}

}  // namespace

TEST_CASE("attention of machines that share queries and keys") {
  check(make_program(kernel<"plain">([](Q_ Q, K_ K, V_ V) -> O_ {
          return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), V);
        })),
        "seq", "mem");
  check(make_program(kernel<"with_lse">([](Q_ Q, K_ K, V_ V) -> outs<O_, out<"lse", batch, seq>> {
          auto s = dot<d_k>(Q, K);
          return {dot<mem>(softmax<mem>(s), V), logsumexp<mem>(s)};
        })),
        "seq", "mem");
}

TEST_CASE("masks and biases mean positions of all tokens") {
  check(make_program(kernel<"causal_last">([](Q_ Q, K_ K, V_ V) -> O_ {
          auto keep = index(mem) <= index(seq) + (size(mem) - size(seq));
          return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K), keep)), V);
        })),
        "seq", "mem");
  check(make_program(kernel<"window">([](Q_ Q, K_ K, V_ V) -> O_ {
          auto keep = index(mem) <= index(seq) && index(seq) - index(mem) < 3;
          return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K), keep)), V);
        })),
        "seq", "mem");
  check(make_program(kernel<"alibi">([](Q_ Q, K_ K, V_ V, in<"slope", batch> slope) -> O_ {
          auto distance = cast<f32>(index(seq) - index(mem));
          auto s = dot<d_k>(Q, K) - slope * abs(distance);
          return dot<mem>(softmax<mem>(s), V);
        })),
        "seq", "mem");
  check(make_program(
            kernel<"documents">([](Q_ Q, K_ K, V_ V, in<"of_query", i32, batch, seq> of_query,
                                   in<"of_key", i32, batch, mem> of_key) -> O_ {
              return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K), of_query == of_key)), V);
            })),
        "seq", "mem");
  check(make_program(kernel<"bias_of_pairs">([](Q_ Q, K_ K, V_ V, in<"bias", seq, mem> bias) -> O_ {
          return dot<mem>(softmax<mem>(dot<d_k>(Q, K) + bias), V);
        })),
        "seq", "mem");
}

TEST_CASE("positions of all tokens are bounded as those of one machine are") {
  const program p = make_program(kernel<"causal">([](Q_ Q, K_ K, V_ V) -> O_ {
    return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K), index(mem) <= index(seq))), V);
  }));
  const program hop = codegen::shard(p, "seq", "mem").hops.at(0);
  const codegen::whole_numbers numbers = codegen::bounds_of_whole_numbers(hop);
  int positions = 0;
  for (std::size_t n = 0; n < hop.nodes.size(); ++n) {
    CHECK(!numbers.wraps[n]);
    CHECK(!numbers.guarded[n]);
    CHECK(!numbers.unsolvable[n]);
    if (!is_position_in_whole(hop, hop.nodes[n])) continue;
    ++positions;
    REQUIRE(numbers.known[n]);
    CHECK(numbers.known[n]->least == 0);
    CHECK(numbers.known[n]->most < core::longest_axis);
  }
  CHECK(positions == 2);
}

TEST_CASE("a whole layer: projections of own tokens, keys that come round") {
  check(make_program(kernel<"layer">(
            [](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
               param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
               param<"Wo", heads, d_v, d_model> Wo) -> out<"Y", batch, seq, d_model> {
              auto Q = dot<d_model>(X, Wq);
              auto K = dot<d_model>(rename<seq, kv>(X), Wk);
              auto V = dot<d_model>(rename<seq, kv>(X), Wv);
              auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
              return X + dot<heads, d_v>(dot<kv>(softmax<kv>(s), V), Wo);
            })),
        "seq", "kv");
}

TEST_CASE("weights that wait for their own logsumexp") {
  check(make_program(kernel<"gated_by_lse">([](Q_ Q, K_ K, V_ V) -> O_ {
          auto s = dot<d_k>(Q, K);
          return dot<mem>(softmax<mem>(s) * sigmoid(s - logsumexp<mem>(s)), V);
        })),
        "seq", "mem");
}

TEST_CASE("other weights and sums") {
  check(make_program(kernel<"normalized">([](Q_ Q, K_ K, V_ V) -> O_ {
          return dot<mem>(normalize<mem>(relu(dot<d_k>(Q, K))), V);
        })),
        "seq", "mem");
  check(make_program(
            kernel<"linear">([](Q_ Q, K_ K, V_ V) -> O_ { return dot<mem>(dot<d_k>(Q, K), V); })),
        "seq", "mem");
  check(make_program(kernel<"entropy">([](Q_ Q, K_ K) -> out<"h", batch, seq> {
          auto w = softmax<mem>(dot<d_k>(Q, K));
          return -sum<mem>(w * log(w + 0.01f));
        })),
        "seq", "mem");
  check(
      make_program(kernel<"extremes">(
          [](Q_ Q, K_ K)
              -> outs<out<"most", batch, seq>, out<"least", batch, seq>, out<"mean", batch, seq>> {
            auto s = mask(dot<d_k>(Q, K), index(mem) != index(seq));
            return {max<mem>(s), min<mem>(s), mean<mem>(s)};
          })),
      "seq", "mem");
}

TEST_CASE("what a mask hides stays hidden when it is stored") {
  check(make_program(
            kernel<"hidden_values">([](in<"X", batch, seq, d_model> X, in<"Q", batch, seq, d_k> Q,
                                       param<"Wk", d_model, d_k> Wk, param<"Wv", d_model, d_v> Wv,
                                       in<"length", i32, batch> length) -> O_ {
              auto K = dot<d_model>(rename<seq, kv>(X), Wk);
              auto V = mask_rows(dot<d_model>(rename<seq, kv>(X), Wv), index(kv) < length);
              return dot<kv>(plain(softmax<kv>(dot<d_k>(Q, K))), V);
            })),
        "seq", "kv");
  check(make_program(kernel<"hidden_keys">([](in<"X", batch, seq, d_k> X, in<"V", batch, kv, d_v> V,
                                              in<"length", i32, batch> length) -> O_ {
          auto K = mask_rows(rename<seq, kv>(X), index(kv) < length);
          return dot<kv>(plain(dot<d_k>(X, K)), V);
        })),
        "seq", "kv");
}

TEST_CASE("weights of what a mask hides are zeros") {
  check(make_program(kernel<"variance">(
            [](Q_ Q, K_ K) -> outs<out<"variance", batch, seq>, out<"least", batch, seq>,
                                   out<"mean", batch, seq>> {
              auto w = softmax<mem>(mask(dot<d_k>(Q, K), index(mem) <= index(seq)));
              auto less = w - 0.1f;
              return {sum<mem>(less * less), min<mem>(w), mean<mem>(w)};
            })),
        "seq", "mem");
  check(make_program(kernel<"counted_pairs">(
            [](in<"a", i32, batch, seq> a, in<"b", i32, batch, mem> b) -> out<"share", batch, seq> {
              return mean<mem>(where(a == b, 1, 0));
            })),
        "seq", "mem");
}

TEST_CASE("dropout leaves out what one machine would") {
  check(make_program(kernel<"dropped">([](Q_ Q, K_ K, V_ V, in<"seed", i32> seed) -> O_ {
          return dot<mem>(dropout<0.5>(softmax<mem>(dot<d_k>(Q, K)), seed), V);
        })),
        "seq", "mem");
}

TEST_CASE("sums over the tokens of all machines") {
  check(make_program(kernel<"summed">([](Q_ Q, K_ K, V_ V) -> out<"o", batch, d_v> {
          return sum<seq>(dot<mem>(softmax<mem>(dot<d_k>(Q, K)), V));
        })),
        "seq", "mem");
  check(make_program(kernel<"pooled">([](Q_ Q, K_ K, V_ V) -> O_ {
          return dot<mem>(softmax<mem>(dot<d_k>(Q, K)), V) + broadcast<seq>(mean<mem>(V));
        })),
        "seq", "mem");
  check(make_program(kernel<"loss">([](Q_ Q, K_ K, V_ V) -> out<"loss"> {
          auto O = dot<mem>(softmax<mem>(dot<d_k>(Q, K)), V);
          return mean<batch, seq, d_v>(O * O);
        })),
        "seq", "mem");
  check(make_program(kernel<"of_columns">([](Q_ Q, K_ K) -> out<"O", batch, mem, d_k> {
          return dot<seq>(softmax<seq>(dot<d_k>(Q, K)), Q);
        })),
        "seq", "mem");
}

TEST_CASE("results for pairs are of a machine's queries and all keys") {
  check(make_program(kernel<"scores">(
            [](Q_ Q, K_ K) -> out<"S", batch, seq, mem> { return softmax<mem>(dot<d_k>(Q, K)); })),
        "seq", "mem");
  check(make_program(kernel<"both">(
            [](Q_ Q, K_ K, V_ V, in<"bias", seq, mem> bias) -> outs<out<"W", batch, mem, seq>, O_> {
              auto w = softmax<mem>(dot<d_k>(Q, K) + bias);
              return {w, dot<mem>(w, V)};
            })),
        "seq", "mem");
}

TEST_CASE("gradients: sums over queries travel with the keys") {
  const auto with_gradient = [](const program &p, const std::string &key) {
    check(codegen::gradient(p), "seq", key);
  };
  with_gradient(make_program(kernel<"plain">([](Q_ Q, K_ K, V_ V) -> O_ {
                  return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), V);
                })),
                "mem");
  with_gradient(make_program(kernel<"layer">(
                    [](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                       param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
                       param<"Wo", heads, d_v, d_model> Wo) -> out<"Y", batch, seq, d_model> {
                      auto Q = dot<d_model>(X, Wq);
                      auto K = dot<d_model>(rename<seq, kv>(X), Wk);
                      auto V = dot<d_model>(rename<seq, kv>(X), Wv);
                      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
                      return X + dot<heads, d_v>(dot<kv>(softmax<kv>(s), V), Wo);
                    })),
                "kv");
}

TEST_CASE("pairs can be divided along batch axes that keep all sums apart") {
  using Q_heads = in<"Q", batch, heads, seq, d_k>;
  using K_heads = in<"K", batch, heads, mem, d_k>;
  using V_heads = in<"V", batch, heads, mem, d_v>;
  using O_heads = out<"O", batch, heads, seq, d_v>;
  const auto check_axes = [](const program &p, const std::string &expected) {
    const codegen::shares s = codegen::shard(p, "seq", "mem");
    std::string axes;
    for (const codegen::node_id n : s.hops[0].arguments)
      if (const std::string &name = s.hops[0][n].name; name.starts_with("first_"))
        axes += (axes.empty() ? "" : " ") + name.substr(6);
    CHECK(axes == "seq mem" + expected);
    check(p, "seq", "mem");  // in halves of the heads
  };
  check_axes(make_program(kernel<"sloped">([](Q_heads Q, K_heads K, V_heads V) -> O_heads {
               auto far = cast<f32>(index(seq) - index(mem)) * cast<f32>(index(heads) + 1);
               return dot<mem>(softmax<mem>(dot<d_k>(Q, K) - far / cast<f32>(size(heads))), V);
             })),
             " batch heads");
  check_axes(
      make_program(kernel<"grouped">([](in<"Q", batch, q_heads, seq, d_k> Q, K_heads K,
                                        V_heads V) -> out<"O", batch, heads, group, seq, d_v> {
        auto far = cast<f32>(index(seq) - index(mem)) / cast<f32>(index(q_heads) + 1);
        auto s = dot<d_k>(split<q_heads, heads, group>(Q), K);
        return dot<mem>(softmax<mem>(s - split<q_heads, heads, group>(far)), V);
      })),
      " batch heads q_heads");
  check_axes(make_program(kernel<"dropped">(
                 [](Q_heads Q, K_heads K, V_heads V, in<"seed", i32> seed) -> O_heads {
                   return dot<mem>(dropout<0.3>(softmax<mem>(dot<d_k>(Q, K)), seed), V);
                 })),
             " batch heads");
  check_axes(make_program(kernel<"talking">(
                 [](Q_heads Q, K_heads K, V_heads V,
                    param<"mix", heads, q_heads> mix) -> out<"O", batch, q_heads, heads, seq, d_v> {
                   auto s = dot<heads>(dot<d_k>(Q, K), mix);
                   return dot<mem>(softmax<mem>(s), V);
                 })),
             " batch q_heads");
  check_axes(make_program(kernel<"of_all_entries">(
                 [](Q_ Q, K_ K, in<"V", mem, d_v> V) -> out<"O", seq, d_v> {
                   return dot<mem>(softmax<mem>(sum<batch>(dot<d_k>(Q, K))), V);
                 })),
             "");
}

TEST_CASE("what needs other tokens is refused") {
  const auto error = [](const program &p, const std::string &text) {
    CHECK_THROWS_WITH(codegen::shard(p, "seq", "mem"), text);
  };
  error(make_program(kernel<"smoothed">([](Q_ Q, K_ K, V_ V) -> O_ {
          return dot<mem>(softmax<mem>(cumsum<mem>(dot<d_k>(Q, K))), V);
        })),
        "smoothed over seq and mem: cumsum<mem>(dot(Q, K)): it needs mem of other machines");
  error(make_program(kernel<"named">([](Q_ Q, K_ K, in<"sum3", batch, mem, d_v> sum3) -> O_ {
          return dot<mem>(softmax<mem>(dot<d_k>(Q, K)), sum3);
        })),
        "named over seq and mem: a part has an argument sum3, too: choose another name");
  error(make_program(
            kernel<"counts">([](Q_ Q, K_ K, in<"seen_pairs", batch, mem, d_v> seen_pairs) -> O_ {
              return dot<mem>(softmax<mem>(dot<d_k>(Q, K)), seen_pairs);
            })),
        "counts over seq and mem: a part has an argument seen_pairs, too: choose another name");
}
