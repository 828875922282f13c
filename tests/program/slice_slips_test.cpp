// SPDX-License-Identifier: BSL-1.0
// Parts of an axis: joined in two orders, cut from another position than their keys; right ones.
#include <qkv/dsl.hpp>

#include <string>
#include <type_traits>
#include <utility>

#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"all"> all;
constexpr axis<"image"> image;
constexpr axis<"text"> text;
constexpr axis<"window", 16> window;
constexpr axis<"both", 12> both;

// The slips of what F(joined) takes of an image followed by a text.
template <auto F>
std::string of_joined() {
  return slips_in(kernel<"k">([](in<"image", image, d8> I, in<"text", text, d8> T,
                                 param<"W", d8, e4> W) -> out<"O", text, e4> {
    return dot<d8>(F(concat<all>(I, T) * 0.5f), W);
  }));
}

// The slips of one query that reads F(K, V, first).
template <auto F>
std::string of_window() {
  return slips_in(kernel<"k">([](in<"q", d8> q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                 in<"first", i32> first) -> out<"O", e4> {
    const auto [k, v] = F(K, V, first);
    return scaled_dot_product<d8, window>(q, k, v);
  }));
}

}  // namespace

TEST_CASE("the text is not where the image is") {
  CHECK(mentions(of_joined<[](auto x) { return slice<all, text>(x, 0); }>(),
                 "begins at position 0 of all, where concat<all, image, text>(image, text) has "
                 "image; did you mean slice<all, text>(.., size(image))?"));
  CHECK(of_joined<[](auto x) { return slice<all, text>(x, size(image)); }>() == "");
  // the position before predicts a token
  CHECK(of_joined<[](auto x) { return slice<all, text>(x, size(image) - 1); }>() == "");
}

TEST_CASE("values are those of the keys") {
  CHECK(mentions(of_window<[](auto K, auto V, auto first) {
                   return std::pair(slice<kv, window>(K, first), slice<kv, window>(V, 0));
                 }>(),
                 "begins at another position than the keys"));
  CHECK(of_window<[](auto K, auto V, auto first) {
          return std::pair(slice<kv, window>(K, first), slice<kv, window>(V, first));
        }>() == "");
}

TEST_CASE("queries and keys join their parts in one order") {
  const auto joined = []<class Same>(Same) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"q", seq, e4> q, in<"K", kv, d8> K,
                                   in<"k", kv, e4> k, in<"V", kv, e4> V) -> out<"O", seq, e4> {
      auto queries = concat<both>(Q, q);
      auto s = [&] {
        if constexpr (Same::value)
          return dot<both>(queries, concat<both>(K, k));
        else
          return dot<both>(queries, concat<both>(k, K));
      }();
      return dot<kv>(softmax<kv>(s / sqrt(both)), V);
    }));
  };
  CHECK(mentions(joined(std::false_type()), "joins the parts of both in another order"));
  CHECK(joined(std::true_type()) == "");
}

}  // namespace qkv::testing::slips
