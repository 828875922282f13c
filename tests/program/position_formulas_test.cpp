// SPDX-License-Identifier: BSL-1.0
// Formulas of positions and recurrences that are slips, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {

namespace {

constexpr axis<"two", 2> two;
constexpr axis<"rows"> rows_axis;
constexpr axis<"pages"> pages;
constexpr axis<"other", 4> other4;

// A recurrence of a selective state, whose step is softplus of an input.
template <auto Next>
std::string of_selective_state() {
  return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"raw", seq, d8> raw, in<"B", seq, e4> B,
                                 param<"A_log", d8, e4> A_log) -> out<"H", d8, e4> {
    auto A = -exp(A_log);
    return scan<seq>(
               zeros<d8, e4>(),
               [&](auto h, auto x, auto dt, auto b) { return Next(h, x, dt, b, A); }, X,
               softplus(raw), B)
        .last;
  }));
}

template <auto Read>
std::string of_cell() {
  return slips_in(kernel<"k">([](in<"i", seq, d8> i, in<"f", seq, d8> f, in<"g", seq, d8> g,
                                 in<"o", seq, d8> o) -> out<"H", seq, d8> {
    return scan<seq>(
               zeros<d8>(),
               [](auto c, auto i, auto f, auto g, auto o) {
                 auto next = sigmoid(f) * c + sigmoid(i) * tanh(g);
                 return std::pair{next, sigmoid(o) * tanh(Read(c, next))};
               },
               i, f, g, o)
        .result;
  }));
}

template <auto Divisor>
std::string of_bonus() {
  return slips_in(kernel<"k">([](in<"K", seq, d8> K, in<"V", seq, d8> V, param<"w", d8> w,
                                 param<"u", d8> u) -> out<"O", seq, d8> {
    auto decay = exp(-exp(w));
    return scan<seq>(
               zeros<two, d8>(),
               [&](auto s, auto k, auto v) {
                 auto a = take<two>(s, 0);
                 auto b = take<two>(s, 1);
                 auto now = exp(u + k);
                 auto next = where(index(two) == 0, broadcast<two>(decay * a + exp(k) * v),
                                   broadcast<two>(decay * b + exp(k)));
                 return std::pair{next, (a + now * v) / (b + Divisor(now, k))};
               },
               K, V)
        .result;
  }));
}

template <auto Distance>
std::string of_retention() {
  return slips_in(kernel<"k">(
      [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
        auto log_gamma = log(1 - pow(2, -5.0));
        auto decay = exp(log_gamma * cast<f32>(Distance()));
        return dot<kv>(mask(dot<d8>(Q, K) / sqrt(d8) * decay, causal<seq, kv>), V);
      }));
}

}  // namespace

TEST_CASE("what enters a selective state is scaled by its step") {
  CHECK(mentions(of_selective_state<[](auto h, auto x, auto dt, auto b, auto A) {
                   return h * exp(broadcast<e4>(dt) * A) + broadcast<e4>(x) * broadcast<d8>(b);
                 }>(),
                 "decays by the step softplus(raw), which its input lacks"));
  CHECK(of_selective_state<[](auto h, auto x, auto dt, auto b, auto A) {
          return h * exp(broadcast<e4>(dt) * A) + broadcast<e4>(dt * x) * broadcast<d8>(b);
        }>() == "");
}

TEST_CASE("the output of a cell reads its next state") {
  CHECK(mentions(of_cell<[](auto c, auto) { return c; }>(),
                 "reads the state before this position; did you mean tanh of the next one?"));
  CHECK(of_cell<[](auto, auto next) { return next; }>() == "");
}

TEST_CASE("a bonus weighs the present token in both sums") {
  CHECK(mentions(of_bonus<[](auto, auto k) { return exp(k); }>(), "in the divisor; did you mean"));
  CHECK(of_bonus<[](auto now, auto) { return now; }>() == "");
}

TEST_CASE("a decay from a logarithm falls with the distance") {
  CHECK(mentions(of_retention<[] { return index(kv) - index(seq); }>(),
                 "grows with the distance where"));
  CHECK(of_retention<[] { return index(seq) - index(kv); }>() == "");
}

TEST_CASE("a slot of a page is counted from the page's first") {
  const auto rows = [](auto f) {
    return slips_in(kernel<"k">([](in<"K", rows_axis, d8> K, in<"table", i32, pages> table,
                                   in<"at", i32, seq> at) -> out<"Y", seq, d8> {
      auto page = cast<i32>((at + 0.5) / 16);
      return take<rows_axis>(K, take<pages>(table, page) * 16 + decltype(f){}(at, page));
    }));
  };
  CHECK(mentions(rows([](auto at, auto) { return at; }), "did you mean the remainder of at / 16?"));
  CHECK(rows([](auto at, auto page) { return at - page * 16; }) == "");
}

TEST_CASE("a sine is joined with a cosine") {
  const auto joined = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, e4> X) -> out<"Y", seq, d8> {
      return concat<d8>(sin(X), rename<e4, other4>(decltype(f){}(X)));
    }));
  };
  CHECK(mentions(joined([](auto x) { return sin(x); }), "joins sin(X) with itself"));
  CHECK(joined([](auto x) { return cos(x); }) == "");
}

TEST_CASE("a table of distances has an offset") {
  constexpr auto biased = [](auto row, auto masked) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"T", d8> T) -> out<"O", seq, e4> {
      auto s = dot<d8>(Q, K) / sqrt(d8) + decltype(row){}(T);
      return dot<kv>(softmax<kv>(decltype(masked){}(s)), V);
    }));
  };
  constexpr auto all = [](auto s) { return s; };
  constexpr auto before = [](auto s) { return mask(s, causal<seq, kv>); };
  constexpr auto near = [](auto s) {
    return mask(s, causal<seq, kv> && index(seq) - index(kv) < 8);
  };
  constexpr auto keys_first = [](auto t) { return take<d8>(t, index(kv) - index(seq) + 0); };
  constexpr auto queries_first = [](auto t) { return take<d8>(t, index(seq) - index(kv) + 0); };
  const std::string negative = "positions kv - seq are negative where the query is later";
  CHECK(mentions(biased(keys_first, before), negative));
  CHECK(mentions(biased(keys_first, all), negative));
  CHECK(biased([](auto t) { return take<d8>(t, index(kv) - index(seq) + 7); }, near) == "");
  CHECK(biased(queries_first, near) == "");
}

TEST_CASE("a place in a pool is counted in slots") {
  constexpr auto paged = [](auto f) {
    return slips_in(kernel<"k">([](in<"pool", rows_axis, d8> pool, in<"table", i32, pages> table,
                                   in<"t", i32, seq> t) -> out<"X", seq, d8> {
      auto page = cast<i32>(t / 16);
      return take<rows_axis>(pool, decltype(f){}(take<pages>(table, page), t - page * 16));
    }));
  };
  CHECK(mentions(paged([](auto page, auto slot) { return page + slot; }),
                 "adds the place in a page to the number of the page"));
  CHECK(paged([](auto page, auto slot) { return page * 16 + slot; }) == "");
}

TEST_CASE("the bonus of the present token is beside the state before it") {
  constexpr auto with_bonus = [](auto f) {
    return slips_in(kernel<"k">([](in<"r", seq, d8> r, in<"k", seq, d8> k, in<"v", seq, e4> v,
                                   param<"w", d8> w, param<"u", d8> u) -> out<"Y", seq, e4> {
      auto decay = exp(-exp(w));
      const auto step = [=](auto s, auto r, auto k, auto v) {
        auto now = broadcast<e4>(k) * broadcast<d8>(v);
        auto next = s * broadcast<e4>(decay) + now;
        return std::pair{next, dot<d8>(r, decltype(f){}(s, next) + broadcast<e4>(u) * now)};
      };
      return scan<seq>(zeros<d8, e4>(), step, r, k, v).result;
    }));
  };
  CHECK(mentions(with_bonus([](auto, auto next) { return next; }), "which is the next state"));
  CHECK(with_bonus([](auto s, auto) { return s; }) == "");
}

}  // namespace qkv::testing::slips
