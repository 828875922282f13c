// SPDX-License-Identifier: BSL-1.0
// Quotients that normalise by something else than what they divide, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"

namespace qkv::testing::slips {

TEST_CASE("sharpened weights are divided by their own sum") {
  constexpr auto sharpened = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, param<"g"> g) -> out<"W", seq, kv> {
          auto w = plain(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)));
          return decltype(f){}(w, pow(w, 1 + softplus(g)));
        }));
  };
  CHECK(mentions(sharpened([](auto w, auto sharp) { return sharp / sum<kv>(w); }),
                 "did you mean the sum of pow"));
  CHECK(sharpened([](auto, auto sharp) { return sharp / sum<kv>(sharp); }) == "");
}

TEST_CASE("a sink has a part of the divisor") {
  constexpr auto with_sink = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"sink"> sink) -> out<"O", seq, e4> {
      auto s = dot<d8>(Q, K) / sqrt(d8);
      auto top = max(max<kv>(s), sink);
      auto e = exp(s - top);
      return dot<kv>(e, V) / decltype(f){}(sum<kv>(e), exp(sink - top));
    }));
  };
  CHECK(mentions(with_sink([](auto total, auto) { return total; }), "sink cancels"));
  CHECK(with_sink([](auto total, auto sink) { return total + sink; }) == "");
}

TEST_CASE("causal products are divided by the sum of causal products") {
  constexpr auto linear = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          auto q = elu(Q) + 1.f;
          auto k = elu(K) + 1.f;
          auto w = where(causal<seq, kv>, dot<d8>(q, k), 0);
          return dot<kv>(w, V) / decltype(f){}(w, dot<d8>(q, sum<kv>(k)));
        }));
  };
  CHECK(mentions(linear([](auto, auto all) { return all; }), "leaves out keys that"));
  CHECK(linear([](auto w, auto) { return sum<kv>(w); }) == "");
}

TEST_CASE("weights are normalised once") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   return dot<kv>(normalize<kv>(plain(softmax<kv>(dot<d8>(Q, K)))), V);
                 }>(),
                 "over kv is 1 already; did you mean softmax over another axis?"));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto w = plain(softmax<kv>(dot<d8>(Q, K))) + 1e-8;
                   return dot<kv>(w / sum<kv>(w), V);
                 }>(),
                 "over kv is 1 already"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          return dot<kv>(normalize<kv>(plain(softmax<seq>(dot<d8>(Q, K)))), V);
        }>() == "");
}

}  // namespace qkv::testing::slips
