// SPDX-License-Identifier: BSL-1.0
// Positions of queries, keys and groups that do not fit each other, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>
#include <utility>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"past"> past;
constexpr axis<"slots"> slots;
constexpr axis<"total"> total;
constexpr axis<"mem"> mem;
constexpr axis<"buckets", 32> buckets;
constexpr axis<"slots512", 512> slots512;
constexpr axis<"rows", 129> rows129;
constexpr axis<"two", 2> two;
constexpr axis<"half", 4> half;
constexpr batch_axis<"heads", 8> heads;
constexpr batch_axis<"kv_heads", 2> kv_heads;

// The slips of keys that follow a past and were rotated from First(index(kv)).
template <auto First>
std::string of_new_keys() {
  return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"past_K", past, d8> past_K,
                                 in<"K", kv, d8> K, in<"V", total, e4> V) -> out<"O", seq, e4> {
    auto angle = First(index(kv)) * pow(10000.0, index(half) * -1.0 / size(half));
    auto at = (index(seq) + size(past)) * pow(10000.0, index(half) * -1.0 / size(half));
    auto keys = concat<total>(past_K, rope<d8, two, half>(K, cos(angle), sin(angle)));
    auto queries = rope<d8, two, half>(Q, cos(at), sin(at));
    return scaled_dot_product<d8, total>(queries, keys, V, causal<seq, total, align::last>);
  }));
}

// The slips of queries at At(length) beside cached_causal(length).
template <auto At>
std::string of_cached_queries() {
  return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", slots, d8> K, in<"V", slots, e4> V,
                                 in<"length", i32> length) -> out<"O", seq, e4> {
    auto at = (index(seq) + At(length)) * pow(10000.0, index(half) * -1.0 / size(half));
    auto queries = rope<d8, two, half>(Q, cos(at), sin(at));
    return scaled_dot_product<d8, slots>(queries, K, V, cached_causal<seq, slots>(length));
  }));
}

}  // namespace

TEST_CASE("keys that follow a past have positions behind it") {
  CHECK(mentions(of_new_keys<[](auto i) { return i; }>(), "did you mean index(kv) + size(past)?"));
  CHECK(of_new_keys<[](auto i) { return i + size(past); }>() == "");
}

TEST_CASE("queries of a cache stand where its mask places them") {
  CHECK(mentions(of_cached_queries<[](auto length) { return length; }>(),
                 "places queries at length - size(seq) + index(seq)"));
  CHECK(of_cached_queries<[](auto length) { return length - size(seq); }>() == "");
}

TEST_CASE("a rotation has one angle") {
  const auto rotated = []<class Base>(Base) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q) -> out<"O", seq, d8> {
      auto a = index(seq) * pow(10000.0, index(half) * -1.0 / size(half));
      auto b = index(seq) * pow(double{Base::value}, index(half) * -1.0 / size(half));
      return rope<d8, two, half>(Q, cos(a), sin(b));
    }));
  };
  CHECK(mentions(rotated(std::integral_constant<int, 500>()), "did you mean one angle?"));
  CHECK(rotated(std::integral_constant<int, 10000>()) == "");
}

TEST_CASE("heads take the keys of a group that exists") {
  const auto grouped = []<class By>(By) {
    return slips_in(kernel<"k">([](in<"K", kv_heads, kv, d8> K) -> out<"O", heads, kv, d8> {
      return take<kv_heads>(K, cast<i32>(index(heads) / By::value));
    }));
  };
  CHECK(mentions(grouped(std::integral_constant<int, 2>()), "did you mean to divide by 4?"));
  CHECK(grouped(std::integral_constant<int, 4>()) == "");
}

TEST_CASE("weights are divided by the number of their keys") {
  const auto divided = []<class Own>(Own) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", mem, d8> K, in<"V", mem, e4> V) -> out<"O", seq, e4> {
          auto s = relu(dot<d8>(Q, K) / sqrt(d8));
          if constexpr (Own::value)
            return dot<mem>(s / size(mem), V);
          else
            return dot<mem>(s / size(seq), V);
        }));
  };
  CHECK(mentions(divided(std::false_type()), "did you mean size(mem)?"));
  CHECK(divided(std::true_type()) == "");
}

TEST_CASE("all key heads are read") {
  static constexpr batch_axis<"of_query", 32> of_query;
  static constexpr batch_axis<"of_key", 8> of_key;
  constexpr auto grouped = [](auto by) {
    return slips_in(kernel<"k">(
        [](in<"Q", of_query, seq, d8> Q, in<"K", of_key, kv, d8> K) -> out<"O", of_query, seq, d8> {
          auto k = take<of_key>(K, cast<i32>(index(of_query) / decltype(by)::value));
          return scaled_dot_product<d8, kv>(Q, k, k, causal<seq, kv>);
        }));
  };
  CHECK(mentions(grouped(std::integral_constant<int, 8>()), "did you mean to divide by 4?"));
  CHECK(grouped(std::integral_constant<int, 4>()) == "");
}

TEST_CASE("logarithmic buckets follow the exact ones") {
  const auto biased = [](auto beyond) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"table", buckets> table) -> out<"O", seq, e4> {
      auto far = max(index(seq) - index(kv), 0);
      auto part = log(max(far, 16) / 16.0) / log(128 / 16.0);
      auto row = where(far < 16, far, min(decltype(beyond){}(cast<i32>(part * 16)), 31));
      auto scores = dot<d8>(Q, K) / sqrt(d8) + take<buckets>(table, row);
      return dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), V);
    }));
  };
  CHECK(mentions(biased([](auto x) { return x; }), "did you mean min(16 + .., 31)?"));
  CHECK(biased([](auto x) { return 16 + x; }) == "");
}

TEST_CASE("a chunk leaves most of its newest keys") {
  const auto left = [](auto power) {
    return slips_in(kernel<"k">([](in<"K", seq, d8> K, in<"V", seq, e4> V, in<"S", d8, e4> S,
                                   in<"g"> g) -> out<"next", d8, e4> {
      return S * pow(g, size(seq)) + dot<seq>(K * pow(g, decltype(power){}()), V);
    }));
  };
  CHECK(mentions(left([] { return index(seq); }), "weighs the newest of seq least"));
  CHECK(left([] { return size(seq) - 1 - index(seq); }) == "");
}

TEST_CASE("a bonus multiplies the present token") {
  const auto read_by = [](auto read) {
    return slips_in(kernel<"k">([](in<"R", seq, d8> R, in<"K", seq, d8> K, in<"V", seq, e4> V,
                                   param<"w", d8> w, param<"u", d8> u) -> out<"O", seq, e4> {
      const auto step = [&](auto past, auto r, auto k, auto v) {
        auto now = broadcast<e4>(k) * broadcast<d8>(v);
        auto seen = decltype(read){}(past, now, broadcast<e4>(u));
        return std::pair{past * broadcast<e4>(exp(-exp(w))) + now, dot<d8>(r, seen)};
      };
      return scan<seq>(zeros<d8, e4>(), step, R, K, V).result;
    }));
  };
  CHECK(mentions(read_by([](auto past, auto now, auto u) { return u * past + now; }),
                 "a bonus of the present token; did you mean"));
  CHECK(read_by([](auto past, auto now, auto u) { return past + u * now; }) == "");
}

TEST_CASE("both feed forwards of a conformer add their half") {
  const auto added = [](auto second) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"A", d8, e4> A, param<"B", e4, d8> B,
                       param<"C", d8, e4> C, param<"D", e4, d8> D) -> out<"Y", seq, d8> {
          auto h = X + 0.5 * dot<e4>(silu(dot<d8>(layer_norm<d8>(X), A)), B);
          return h + decltype(second){}(dot<e4>(silu(dot<d8>(layer_norm<d8>(h), C)), D));
        }));
  };
  CHECK(mentions(added([](auto x) { return x; }), "adds the whole of a feed forward"));
  CHECK(added([](auto x) { return 0.5 * x; }) == "");
}

TEST_CASE("slots are counted as positions are") {
  const auto query = [](auto shown) {
    return slips_in(
        kernel<"k">([](in<"q", d8> q, in<"K", slots, d8> K, in<"V", slots, e4> V,
                       in<"length", i32> length, param<"P", total, d8> P) -> out<"O", e4> {
          auto placed = q + take<total>(P, length - 1);
          auto scores = mask(dot<d8>(placed, K) / sqrt(d8), decltype(shown){}(length));
          return dot<slots>(softmax<slots>(scores), V);
        }));
  };
  CHECK(mentions(query([](auto length) { return index(slots) <= length; }),
                 "shows one key more than length"));
  CHECK(query([](auto length) { return index(slots) < length; }) == "");
}

namespace {

// The slips of keys behind a past of this name that are rotated by rows At(index(kv)) of tables.
template <auto At, str Past = "past_K">
std::string of_rows_of_tables() {
  return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<Past, mem, d8> old, in<"K", kv, d8> K,
                                 in<"V", total, e4> V, param<"c", slots512, half> c,
                                 param<"s", slots512, half> s) -> out<"O", seq, e4> {
    auto at = At(index(kv));
    auto then = index(seq) + size(mem);
    auto keys =
        concat<total>(old, rope<d8, two, half>(K, take<slots512>(c, at), take<slots512>(s, at)));
    auto queries = rope<d8, two, half>(Q, take<slots512>(c, then), take<slots512>(s, then));
    return scaled_dot_product<d8, total>(queries, keys, V, causal<seq, total, align::last>);
  }));
}

// The slips of a table of distances, At(index(kv) - index(seq)).
template <auto At>
std::string of_distances() {
  return slips_in(
      kernel<"k">([](in<"s", seq, kv> s, param<"table", rows129> table) -> out<"W", seq, kv> {
        return softmax<kv>(s + take<rows129>(table, At(index(kv) - index(seq))));
      }));
}

}  // namespace

TEST_CASE("rows of tables that rotate new keys follow those of the past") {
  constexpr auto from_0 = [](auto i) { return i; };
  const std::string begins = "positions of kv begin at 0 in";
  CHECK(mentions(of_rows_of_tables<from_0>(), begins));
  CHECK(mentions(of_rows_of_tables<[](auto i) { return i + 0; }>(), begins));
  CHECK(mentions(of_rows_of_tables<from_0, "K_cache">(), "did you mean index(kv) + size(mem)?"));
  CHECK(of_rows_of_tables<[](auto i) { return i + size(mem); }>() == "");
  CHECK(of_rows_of_tables<[](auto i) { return let<"at">(i); }>() == "");
  // keys that are not rotated
  CHECK(of_rows_of_tables<from_0, "K_memory">() == "");
  CHECK(of_rows_of_tables<from_0, "K_image">() == "");
  CHECK(of_rows_of_tables<from_0, "prompt">() == "");
}

TEST_CASE("distances begin at the first row, and end at the last") {
  CHECK(mentions(of_distances<[](auto d) { return min(max(d, -64), 64) + 32; }>(),
                 "positions from -32 to -1 lie before the first row; did you mean + 64?"));
  CHECK(mentions(of_distances<[](auto d) { return min(max(d, -64), 64) - 32; }>(),
                 "lie before the first row"));
  CHECK(mentions(of_distances<[](auto d) { return 64 + max(min(d, 32), -32); }>(),
                 "distances end at 32, but rows has 64 rows on each side"));
  CHECK(of_distances<[](auto d) { return min(max(d, -64), 64) + 64; }>() == "");
  CHECK(of_distances<[](auto d) { return max(min(max(d, -64), 64) + 32, 0); }>() == "");
  // a table that is longer than needed, and one with rows for other distances
  CHECK(of_distances<[](auto d) { return min(max(d, -16), 16) + 16; }>() == "");
  CHECK(of_distances<[](auto d) { return min(max(d, -20), 20) + 64; }>() == "");
  CHECK(of_distances<[](auto d) { return min(max(d, -64), 32) + 64; }>() == "");
}

}  // namespace qkv::testing::slips
