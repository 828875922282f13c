// SPDX-License-Identifier: BSL-1.0
// Positions that a mask hides in one place and another step sees, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"kv_all"> kv_all;

constexpr axis<"slots"> slots;
constexpr axis<"slots16", 16> slots16;
constexpr alias<"kv16", slots16> kv16;
constexpr axis<"one", 1> one;
constexpr axis<"tokens"> tokens;
constexpr alias<"token_keys", tokens> token_keys;

// The slips of attention under Keep() of Prepared(Q).
template <auto Keep, auto Prepared>
std::string of_prepared() {
  return of_attention<[](auto Q, auto K, auto V) {
    return dot<kv>(softmax<kv>(mask(dot<d8>(Prepared(Q), K) / sqrt(d8), Keep())), V);
  }>();
}
constexpr auto causal_mask = [] { return causal<seq, kv>; };
constexpr auto as_it_is = [](auto Q) { return Q; };

// The slips of Pooled(Y), where Y is attention of X[seq, d8] under padding<kv>(length).
template <auto Pooled>
std::string of_pooled_layer() {
  const auto k = kernel<"k">([](in<"X", seq, d8> X, in<"length", i32> length) -> out<"y", d8> {
    auto K = rename<seq, kv>(X);
    auto s = mask(dot<d8>(X, K) / sqrt(d8), padding<kv>(length));
    return Pooled(X + dot<kv>(softmax<kv>(s), K), length);
  });
  return lines_of(codegen::make_program(k));
}

// The slips of two layers; the second has the scores Second(s).
template <auto Second>
std::string of_two_layers() {
  const auto k = kernel<"k">([](in<"X", seq, d8> X, in<"Z", seq, d8> Z) -> out<"Y", seq, d8> {
    auto K = rename<seq, kv>(X);
    auto first = dot<kv>(softmax<kv>(mask(dot<d8>(X, K) / sqrt(d8), causal<seq, kv>)), K);
    return Second(X, Z, X + first);
  });
  return lines_of(codegen::make_program(k));
}

}  // namespace

TEST_CASE("a window beside a causal mask is not an alternative to it") {
  CHECK(mentions(
      of_prepared<[] { return causal<seq, kv> || sliding_window<seq, kv>(128); }, as_it_is>(),
      "shows keys after the query"));
  CHECK(of_prepared<[] { return causal<seq, kv> && sliding_window<seq, kv>(128); }, as_it_is>() ==
        "");
  CHECK(of_prepared<[] { return causal<seq, kv> || index(kv) < 4; }, as_it_is>() == "");
  CHECK(of_prepared<[] { return let<"keep">(causal<seq, kv> || sliding_window<seq, kv>(128)); },
                    as_it_is>() == "");
  CHECK(mentions(
      of_prepared<[] { return causal<seq, kv> || index(seq) - index(kv) < 128; }, as_it_is>(),
      "is always true; did you mean &&?"));
}

TEST_CASE("a document beside a causal mask is not an alternative to it") {
  constexpr auto packed = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   in<"doc", i32, seq> doc) -> out<"O", seq, e4> {
      return scaled_dot_product<d8, kv>(Q, K, V,
                                        decltype(f){}(causal<seq, kv>, document<seq, kv>(doc)));
    }));
  };
  CHECK(mentions(packed([](auto a, auto b) { return a || b; }), "shows keys after the query"));
  CHECK(packed([](auto a, auto b) { return a && b; }) == "");
}

TEST_CASE("a cache shows the new keys") {
  constexpr auto cached = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", slots, d8> K, in<"V", slots, e4> V,
                                   in<"length", i32> length) -> out<"O", seq, e4> {
      return scaled_dot_product<d8, slots>(Q, K, V, decltype(f){}(length));
    }));
  };
  CHECK(mentions(
      cached([](auto n) { return cached_causal<seq, slots>(n) && index(slots) < n - size(seq); }),
      "hides the new keys from all queries"));
  CHECK(cached([](auto n) { return cached_causal<seq, slots>(n) && index(slots) < n; }) == "");

  constexpr auto written = [](auto f) {
    return slips_in(kernel<"k">([](in<"q", d8> q, in<"K", slots, d8> K, in<"key", d8> key,
                                   in<"length", i32> length) -> out<"O", d8> {
      auto k = where(index(slots) == length, key, K);
      auto s = mask(dot<d8>(q, k) / sqrt(d8), decltype(f){}(index(slots), length));
      return dot<slots>(softmax<slots>(s), k);
    }));
  };
  CHECK(mentions(written([](auto i, auto n) { return i < n; }), "did you mean <= in place of <?"));
  CHECK(written([](auto i, auto n) { return i <= n; }) == "");
}

TEST_CASE("each query sees a key") {
  CHECK(mentions(of_prepared<[] {
                   return cast<i32>((index(kv) + 0.5) / 128) < cast<i32>((index(seq) + 0.5) / 128);
                 },
                             as_it_is>(),
                 "shows query 0 no key"));
  CHECK(of_prepared<[] {
          return cast<i32>((index(kv) + 0.5) / 128) <= cast<i32>((index(seq) + 0.5) / 128);
        },
                    as_it_is>() == "");
  CHECK(mentions(
      of_prepared<[] { return causal<seq, kv> && sliding_window<seq, kv>(128) && index(kv) < 4; },
                  as_it_is>(),
      "no key; did you mean to show each query its own?"));
  CHECK(
      of_prepared<[] { return causal<seq, kv> && (sliding_window<seq, kv>(128) || index(kv) < 4); },
                  as_it_is>() == "");
}

TEST_CASE("a statistic over positions sees what a causal mask hides") {
  CHECK(mentions(of_prepared<causal_mask, [](auto Q) { return rms_norm<seq>(Q); }>(),
                 "is made of all positions"));
  CHECK(
      mentions(of_prepared<causal_mask, [](auto Q) { return Q - broadcast<seq>(mean<seq>(Q)); }>(),
               "did you mean another axis than seq?"));
  CHECK(of_prepared<causal_mask, [](auto Q) { return rms_norm<d8>(Q); }>() == "");
  CHECK(of_prepared<[] { return abs(index(seq) - index(kv)) < 9; },
                    [](auto Q) { return rms_norm<seq>(Q); }>() == "");
  CHECK(of_prepared<causal_mask,
                    [](auto Q) { return Q - broadcast<seq>(let<"mean">(mean<seq>(Q))); }>() == "");
}

TEST_CASE("a mean counts no position that padding hides as a key") {
  CHECK(mentions(of_pooled_layer<[](auto Y, auto) { return mean<seq>(Y); }>(),
                 "hides positions of kv as keys, but they are counted here"));
  CHECK(of_pooled_layer<[](auto Y, auto length) {
          return mean<seq>(mask(Y, padding<seq>(length)));
        }>() == "");
  CHECK(of_pooled_layer<[](auto Y, auto) { return let<"pooled">(mean<seq>(Y)); }>() == "");
  CHECK(mentions(of_pooled_layer<[](auto Y, auto) { return max<seq>(Y); }>(),
                 "did you mean max<seq>(mask("));
  CHECK(mentions(of_pooled_layer<[](auto Y, auto) { return take<seq>(Y, size(seq) - 1); }>(),
                 "did you mean the length in place of size(seq)?"));
  CHECK(of_pooled_layer<[](auto Y, auto length) { return take<seq>(Y, length - 1); }>() == "");
  CHECK(of_pooled_layer<[](auto Y, auto) { return take<seq>(Y, 0); }>() == "");
  CHECK(mentions(
      of_pooled_layer<[](auto Y, auto) { return dot<seq>(softmax<seq>(sum<d8>(Y)), Y); }>(),
      "did you mean the same mask?"));
}

TEST_CASE("a second layer has the mask of the first") {
  CHECK(mentions(of_two_layers<[](auto, auto, auto Y) {
                   auto K = rename<seq, kv>(Y);
                   return Y + dot<kv>(softmax<kv>(dot<d8>(Y, K) / sqrt(d8)), K);
                 }>(),
                 "did you mean the same mask?"));
  CHECK(of_two_layers<[](auto, auto, auto Y) {
          auto K = rename<seq, kv>(Y);
          return Y + dot<kv>(softmax<kv>(mask(dot<d8>(Y, K) / sqrt(d8), causal<seq, kv>)), K);
        }>() == "");
  CHECK(of_two_layers<[](auto, auto Z, auto Y) {  // of keys that no mask hides
          auto K = rename<seq, kv>(Z);
          return Y + dot<kv>(softmax<kv>(dot<d8>(Z, K) / sqrt(d8)), K);
        }>() == "");
}

TEST_CASE("padding of queries is no reason to show padding of keys") {
  constexpr auto padded = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   in<"len", i32> len) -> out<"O", seq, e4> {
      return scaled_dot_product<d8, kv>(Q, K, V, decltype(f){}(index(seq) < len, index(kv) < len));
    }));
  };
  CHECK(
      mentions(padded([](auto a, auto b) { return a || b; }), "did you mean index(seq) < len &&"));
  CHECK(padded([](auto a, auto b) { return a && b; }) == "");
}

TEST_CASE("blocks of queries and keys have one size") {
  constexpr auto blocks = [](auto by) {
    return of_prepared<[] {
      return cast<i32>(index(seq) / 64) == cast<i32>(index(kv) / decltype(by)::value);
    },
                       as_it_is>();
  };
  CHECK(mentions(blocks(std::integral_constant<int, 32>()), "did you mean 64 twice?"));
  CHECK(blocks(std::integral_constant<int, 64>()) == "");
}

TEST_CASE("no query sees the next key") {
  const auto masked = [](auto last) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          return scaled_dot_product<d8, kv>(Q, K, V, index(kv) <= decltype(last){}(index(seq)));
        }));
  };
  CHECK(mentions(masked([](auto i) { return i + 1; }), "shows each query the key after its own"));
  CHECK(masked([](auto i) { return i; }) == "");
  CHECK(masked([](auto i) { return i + 4; }) == "");  // a limited view ahead
  const auto cached = [](auto offset) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv_all, d8> K, in<"V", kv_all, e4> V) -> out<"O", seq, e4> {
          auto keep = index(kv_all) <= index(seq) + decltype(offset){}(size(kv_all) - size(seq));
          return scaled_dot_product<d8, kv_all>(Q, K, V, keep);
        }));
  };
  CHECK(mentions(cached([](auto before) { return before + 1; }), "did you mean one less?"));
  CHECK(cached([](auto before) { return before; }) == "");
}

TEST_CASE("the mean of keys moves all scores of a query alike") {
  CHECK(slips_in(kernel<"k">(
            [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
              auto smooth = K - mean<kv>(K);
              auto rounded = cast<f32>(cast<i32>(smooth * 16));
              return scaled_dot_product<d8, kv>(Q, rounded, V, causal<seq, kv>);
            })) == "");
}

TEST_CASE("a length of the inputs does not hide latents") {
  const auto latents = [](auto keep) {
    return slips_in(kernel<"k">([](in<"L", slots16, d8> L, in<"X", seq, d8> X,
                                   in<"count", i32> count) -> out<"O", slots16, d8> {
      auto h = L + scaled_dot_product<d8, seq>(L, X, X, padding<seq>(count));
      auto of_h = rename<slots16, kv16>(h);
      return h +
             dot<kv16>(softmax<kv16>(decltype(keep){}(dot<d8>(h, of_h) / sqrt(d8), count)), of_h);
    }));
  };
  CHECK(mentions(latents([](auto s, auto count) { return mask(s, padding<kv16>(count)); }),
                 "hides kv16 by count, which counts positions of seq elsewhere"));
  CHECK(latents([](auto s, auto) { return s; }) == "");
}

TEST_CASE("a token that is put first is read at 0") {
  const auto classified = [](auto read, auto keep) {
    return slips_in(kernel<"k">([](in<"P", seq, d8> P, param<"cls", one, d8> cls) -> out<"y", d8> {
      auto x = concat<tokens>(cls, P);
      auto of_x = rename<tokens, token_keys>(x);
      auto s = decltype(keep){}(dot<d8>(x, of_x) / sqrt(d8));
      auto y = x + dot<token_keys>(softmax<token_keys>(s), of_x);
      return take<tokens>(y, decltype(read){}());
    }));
  };
  const auto first = [] { return 0; };
  const auto last = [] { return size(tokens) - 1; };
  const auto all = [](auto s) { return s; };
  const auto earlier = [](auto s) { return mask(s, causal<tokens, token_keys>); };
  CHECK(mentions(classified(last, all),
                 "is the last position of tokens, and cls is the first; did you mean "
                 "take<tokens>(.., 0)?"));
  CHECK(classified(first, all) == "");
  CHECK(classified(last, earlier) == "");
}

}  // namespace qkv::testing::slips
