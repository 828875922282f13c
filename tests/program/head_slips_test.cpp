// SPDX-License-Identifier: BSL-1.0
// Heads that are split or merged in another order, windows of unlike parts, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"heads", 6> heads;
constexpr batch_axis<"group", 3> group;
constexpr batch_axis<"kv_heads", 2> kv_heads;
constexpr axis<"d_attn", 12> d_attn;
constexpr batch_axis<"height", 12> height;
constexpr batch_axis<"width", 12> width;
constexpr batch_axis<"wy", 3> wy;
constexpr batch_axis<"wx", 3> wx;
constexpr axis<"y", 4> y;
constexpr axis<"x", 4> x;
constexpr alias<"y2", y> y2;
constexpr alias<"x2", x> x2;

// The slips of grouped attention, whose queries are split and whose result is merged so.
std::string of_groups(auto split_queries, auto merged) {
  return slips_in(kernel<"k">([](in<"Q", heads, seq, d8> Q, in<"K", kv_heads, kv, d8> K,
                                 in<"V", kv_heads, kv, d8> V) -> out<"O", heads, seq, d8> {
    auto q = decltype(split_queries){}(Q);
    return decltype(merged){}(dot<kv>(softmax<kv>(dot<d8>(q, K) / sqrt(d8)), V));
  }));
}

// The slips of attention whose result is merged so.
std::string of_merge(auto merged) {
  return slips_in(kernel<"k">([](in<"Q", group, seq, d8> Q, in<"K", group, kv, d8> K,
                                 in<"V", group, kv, e4> V) -> out<"O", seq, d_attn> {
    return decltype(merged){}(dot<kv>(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)), V));
  }));
}

}  // namespace

TEST_CASE("query heads that share a key head lie side by side") {
  CHECK(mentions(of_groups([](auto Q) { return split<heads, group, kv_heads>(Q); },
                           [](auto O) { return merge<heads, group, kv_heads>(O); }),
                 "did you mean split<heads, kv_heads, group>?"));
  CHECK(of_groups([](auto Q) { return split<heads, kv_heads, group>(Q); },
                  [](auto O) { return merge<heads, kv_heads, group>(O); }) == "");
  CHECK(of_groups([](auto Q) { return let<"dealt">(split<heads, group, kv_heads>(Q)); },
                  [](auto O) { return merge<heads, group, kv_heads>(O); }) == "");
}

TEST_CASE("the features of a head lie side by side") {
  CHECK(mentions(of_merge([](auto O) { return merge<d_attn, e4, group>(O); }),
                 "did you mean merge<d_attn, group, e>?"));
  CHECK(of_merge([](auto O) { return merge<d_attn, group, e4>(O); }) == "");
  CHECK(of_merge([](auto O) { return let<"shuffled">(merge<d_attn, e4, group>(O)); }) == "");
}

TEST_CASE("windows have the same part of height and of width") {
  constexpr auto windows = [](auto split_width) {
    return slips_in(kernel<"k">([](in<"X", height, width, d8> X) -> out<"Y", wy, wx, y, x, d8> {
      auto Q = decltype(split_width){}(split<height, wy, y>(X));
      auto K = rename<x, x2>(rename<y, y2>(Q));
      return dot<y2, x2>(softmax<y2, x2>(dot<d8>(Q, K) / sqrt(d8)), K);
    }));
  };
  CHECK(mentions(windows([](auto X) { return split<width, x, wx>(X); }),
                 "y is the inner part of height, but x the outer one of width"));
  CHECK(windows([](auto X) { return split<width, wx, x>(X); }) == "");
}

}  // namespace qkv::testing::slips
