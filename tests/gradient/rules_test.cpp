// SPDX-License-Identifier: BSL-1.0
// The rule of each operation alone: kernels of a few steps, whose operands lack axes, are masked,
// have rows without any element, or are empty.
#include "codegen/gradient/make_program.hpp"
#include "codegen/program/meaning.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/ops/spec.hpp"

using namespace qkv;
using namespace qkv::testing;
using codegen::make_program;
using codegen::program;

namespace {

inline constexpr batch_axis<"entry"> entry;
inline constexpr axis<"whole"> whole;
inline constexpr axis<"wide", 6> wide;
inline constexpr alias<"column_2", column> column_2;
using O_ = out<"O", row, column>;
using A_ = out<"A", row, column>;
using B_ = out<"B", row, column>;
using C_ = out<"C", row, column>;
using o_ = out<"o", row>;

enum class range { any, positive };

// Against differences at several sizes, 0 among them; keep removes a quarter of the elements and,
// if there is one, the whole row 1.
void check(const program &p, range r = range::any) {
  const program g = codegen::gradient(p);
  for (const std::int64_t first : {3, 1, 5, 0}) {
    const codegen::size_map sizes = small_sizes(p, first);
    INFO(p.name << " from size " << first);
    arrays arguments = arguments_for(p, sizes, seed_or(11), r == range::positive);
    if (const auto keep = arguments.find("keep"); keep != arguments.end())
      for (std::size_t k = 0; k < keep->second.data.size(); ++k)
        if (static_cast<std::int64_t>(k) / keep->second.shape[1] == 1) keep->second.data[k] = 0;
    const arrays all = with_adjoints(p, arguments, sizes, seed_or(7));
    CHECK(wrong_gradient(p, g, all, sizes) == "");
  }
}

}  // namespace

#define QKV_UNARY(f)                                                   \
  make_program(kernel<"unary">([](X_ X, K_ keep) -> outs<O_, A_, o_> { \
    auto m = mask(X, keep);                                            \
    return {f(X), f(m), sum<column>(f(m))};                            \
  }))

TEST_CASE("value_and_gradient gives the results of the kernel, then its gradient") {
  static constexpr auto k = kernel<"masked">([](X_ X, K_ keep) -> outs<O_, o_> {
    auto m = mask(X * X, keep);
    return {m, sum<column>(m)};
  });
  const program p = make_program(k), both = make_program(value_and_gradient<k>),
                alone = make_program(gradient<k>);
  CHECK(both.name == "masked_value_and_gradient");
  check(p);
  const codegen::size_map sizes = small_sizes(p, 3);
  const arrays all = with_adjoints(p, arguments_for(p, sizes, 3, false), sizes, 5);
  arrays results = codegen::interpret(both, all, sizes);
  for (const program *one : {&p, &alone})
    for (const auto &[name, x] : codegen::interpret(*one, all, sizes)) {
      INFO(name);
      REQUIRE(results.count(name));
      CHECK(results.at(name).data == x.data);
    }
  CHECK(results.size() == 3);
  CHECK(both[both.outputs[0]].name == "O");
  CHECK(both[both.outputs[2]].name == "dX");
}

// nullptr for other operations.
constexpr auto programs_of_functions = codegen::by_operation([]<core::op Kind>() -> program (*)() {
  if constexpr (core::is_function_of_one_number(Kind))
    return [] { return QKV_UNARY(detail::function<Kind>); };
  else
    return nullptr;
});

TEST_CASE("functions of one number") {
  for (const core::op_facts &o : core::op_table)
    if (const auto program_of = programs_of_functions[static_cast<std::size_t>(o.kind)]) {
      INFO(o.name);
      check(program_of(), o.finite ? range::any : range::positive);
    }
  for (const program &p : {QKV_UNARY(-), QKV_UNARY(cast<bf16>)}) check(p);
}

#define QKV_BINARY(f)                                                                        \
  make_program(                                                                              \
      kernel<"binary">([](X_ X, Y_ Y, in<"r", row> r, K_ keep) -> outs<O_, A_, B_, C_, o_> { \
        auto b = broadcast<column>(r);                                                       \
        auto m = mask(X, keep);                                                              \
        return {f(X, Y), f(X, b), f(b, X), f(m, Y), sum<column>(f(Y, m))};                   \
      }))
#define QKV_ADD(a, b) a + b
#define QKV_SUB(a, b) a - b
#define QKV_MUL(a, b) a *b
#define QKV_DIV(a, b) a / b

TEST_CASE("arithmetic of two operands") {
  for (const program &p : {QKV_BINARY(QKV_ADD), QKV_BINARY(QKV_SUB), QKV_BINARY(QKV_MUL),
                           QKV_BINARY(min), QKV_BINARY(max)})
    check(p);
  for (const program &p : {QKV_BINARY(QKV_DIV), QKV_BINARY(pow)}) check(p, range::positive);
}

TEST_CASE("arithmetic with whole numbers, and of one step twice") {
  check(make_program(kernel<"numbers">([](X_ X, in<"n", i32, column> n) -> outs<O_, A_, B_> {
    return {X * n + 2.f / (X * X + 1.f), max(X, n) - X * index(row),
            pow(X, 3) + pow(X, 1) + pow(X, 0)};
  })));
  check(make_program(kernel<"itself">(
      [](X_ X) -> outs<O_, A_, B_> { return {X * X, X / (X * X + 1.f) + X, X - X * 3.f}; })));
}

TEST_CASE("choices and masks") {
  check(make_program(kernel<"chosen">([](X_ X, Y_ Y, K_ keep) -> outs<O_, A_, B_, o_> {
    auto x = mask(X, keep);
    auto y = mask(Y, keep);
    return {where(keep, X, Y), where(X > 0.f, x, Y), where(index(column) > 1, Y, y),
            sum<column>(where(index(column) > 0, X, y))};
  })));
  check(make_program(kernel<"masked">([](X_ X, K_ keep, Y_ Y) -> outs<O_, A_, o_> {
    auto m = mask(X, keep);
    return {m, mask(m * Y, index(column) <= index(row)), sum<column>(m + Y)};
  })));
}

TEST_CASE("contractions") {
  check(make_program(kernel<"products">(
      [](X_ X, Y_ Y, K_ keep, param<"W", column, four> W, in<"E", entry, row, column> E)
          -> outs<out<"O", row, four>, out<"a">, out<"b", entry, row, four>, out<"c", row, four>,
                  out<"d", four>, out<"e", entry>> {
        auto m = mask(X, keep);
        return {dot<column>(X, W),
                dot<row, column>(X, Y),
                dot<column>(E, W),
                dot<column>(m, W),
                dot<row>(sum<column>(m), dot<column>(Y, W)),
                dot<row, column>(E, E)};
      })));
  check(make_program(
      kernel<"gram">([](X_ X, in<"Z", row, column_2> Z,
                        K_ keep) -> outs<out<"O", column, column_2>, out<"a", column, column_2>> {
        return {dot<row>(X, Z), dot<row>(mask(X, keep), tanh(Z))};
      })));
}

TEST_CASE("reductions") {
  check(make_program(kernel<"reduced">(
      [](X_ X, K_ keep) -> outs<o_, out<"a", row>, out<"b", row>, out<"c", column>, out<"d">> {
        auto m = mask_rows(X, keep);
        return {sum<column>(X), mean<column>(m), sum<column>(m), mean<row>(X),
                mean<row, column>(m) + mean<row, column>(X)};
      })));
  check(make_program(kernel<"extremes">([](X_ X, K_ keep) -> outs<o_, out<"a", row>, A_> {
    auto m = mask_rows(X, keep);
    return {max<column>(X) + 2 * min<column>(X), where(max<column>(m) > -9.f, max<column>(m), 0),
            X * max<row, column>(X)};
  })));
  check(make_program(kernel<"lse">([](X_ X, K_ keep) -> outs<o_, out<"a", row>, out<"b", column>> {
    return {logsumexp<column>(X), logsumexp<column>(mask(X, keep)),
            logsumexp<row>(mask_rows(X, keep))};
  })));
  check(make_program(kernel<"prefix">([](X_ X, K_ keep) -> outs<O_, A_, B_> {
    return {cumsum<column>(X), cumsum<row>(mask_rows(X, keep)), mask(cumsum<column>(X), keep)};
  })));
}

TEST_CASE("weights") {
  using V_ = in<"V", column, four>;
  using P_ = out<"P", row, four>;
  using R_ = out<"R", row, four>;
  check(make_program(kernel<"soft">([](X_ X, Y_ Y, K_ keep, V_ V) -> outs<O_, A_, B_, P_, R_> {
    auto w = softmax<column>(mask(X, keep));
    return {softmax<column>(X), w, plain(w) + 0.5f, dot<column>(w, V),
            dot<column>(softmax<column>(X) * mask(Y, keep), V)};
  })));
  check(make_program(kernel<"values">([](X_ X, K_ keep, V_ V, in<"c", row> c) -> outs<P_, R_> {
    auto w = softmax<column>(mask(X, keep));
    return {dot<column>(-(w * c), V), dot<column>(w / (c * c + 1.f) * cos(w), V)};
  })));
  check(make_program(kernel<"shares">([](X_ X, K_ keep, V_ V) -> outs<O_, A_, P_, R_> {
          auto w = normalize<column>(mask(X, keep));
          return {normalize<column>(X), w, dot<column>(w, V), dot<column>(w * w, V)};
        })),
        range::positive);
  check(make_program(kernel<"both_axes">([](X_ X, Y_ Y, K_ keep) -> outs<O_, out<"q">> {
    return {softmax<row, column>(mask_rows(X, keep)), dot<row, column>(softmax<row, column>(X), Y)};
  })));
}

TEST_CASE("views") {
  check(make_program(kernel<"views">(
      [](in<"X", row, wide> X, in<"Y", row, two, three> Y,
         in<"r", row> r) -> outs<out<"O", row, two, three>, out<"A", row, wide>, B_> {
        return {split<wide, two, three>(X) * Y, merge<wide, two, three>(Y) - X,
                broadcast<column>(r)};
      })));
  check(make_program(kernel<"renamed">(
      [](X_ X, K_ keep) -> outs<out<"O", row, column, column_2>, out<"A", row, column_2>> {
        auto m = rename<column, column_2>(mask(X, keep));
        return {broadcast<column_2>(X) * broadcast<column>(m), m};
      })));
}

// An adjoint that is the same at all positions of an axis lacks it: the sum over them is a product.
TEST_CASE("sums and means of repetitions") {
  check(make_program(kernel<"repeated">([](in<"r", row> r) -> outs<o_, out<"A", row>, out<"B">> {
    auto b = broadcast<column>(r);
    return {mean<column>(b), sum<column>(b), dot<row, column>(b, b)};
  })));
}

// Weights are computed again and round otherwise than those of the forward.
TEST_CASE("the largest and the smallest of weights") {
  check(make_program(kernel<"of_weights">([](X_ X) -> outs<o_, out<"A", column>, B_> {
    auto w = softmax<column>(X);
    return {max<column>(w), min<row>(w), broadcast<column>(max<column>(w)) - w};
  })));
}

// A number that is a result by itself and a part of a result for each pair.
TEST_CASE("adjoints of one and of all pairs") {
  check(make_program(kernel<"both">([](X_ X, in<"a"> a, in<"b"> b) -> outs<out<"s">, O_> {
    auto s = a + b;
    return {s, X - s};
  })));
}

// One sum of values is masked and normalised, the other is a result.
TEST_CASE("two sums under one softmax") {
  check(make_program(
      kernel<"two_sums">([](in<"Z", row, column> Z, in<"x", column> x, in<"y", column> y,
                            in<"keep", b8, row, entry> keep) -> outs<o_, out<"p", row, entry>> {
        auto w = softmax<column>(Z);
        return {dot<column>(w, x), normalize<row>(mask(broadcast<entry>(dot<column>(w, y)), keep))};
      })));
  check(make_program(
      kernel<"one_masked">([](in<"Z", row, column> Z, in<"x", column> x, in<"y", column> y,
                              in<"present", b8, row> present) -> outs<o_, out<"p">> {
        auto w = softmax<column>(Z);
        return {dot<column>(w, x), sum<row>(mask(dot<column>(w, y), present))};
      })));
}

// A contraction computes tiles of rows and columns; with neither, it would fill one element of
// each.
TEST_CASE("products of steps with the same axes are summed without a contraction") {
  const program scaled = make_program(kernel<"scaled">(
      [](in<"X", row, wide> X, in<"r", row> r) -> out<"O", row, wide> { return X * r; }));
  check(scaled);
  for (const auto &n : codegen::gradient(scaled).nodes) CHECK(n.kind != core::op::dot);
}

TEST_CASE("gathers") {
  check(make_program(kernel<"taken">(
      [](X_ X, in<"P", i32, other> P, in<"R", i32, row> R,
         in<"S", i32, column> S) -> outs<out<"O", other, column>, o_, A_, out<"B", other, column>> {
        return {take<row>(X, P), take<column>(X, R), take<column>(X, S),
                take<row>(tanh(X), max(min(index(other) + 1, size(row) - 1), 0))};
      })));
  // Each row of the table holds one element that is taken, which a mask may have removed.
  check(make_program(kernel<"picked">(
      [](X_ X, K_ keep, in<"R", i32, row> R, in<"S", i32, column> S) -> outs<o_, out<"p", column>> {
        return {take<column>(mask(X, keep), R) * mean<column>(X),
                take<row>(mask(X, keep), S) * max<row>(X)};
      })));
  check(make_program(
      kernel<"sliced">([](in<"X", row, wide> X) -> outs<out<"O", row, four>, out<"A", row, two>> {
        return {slice<wide, four>(X, 1), slice<wide, two>(X, 4)};
      })));
  check(make_program(kernel<"joined">(
      [](X_ X, in<"Z", row, other> Z, K_ keep) -> outs<out<"O", row, whole>, out<"A", row, whole>> {
        return {concat<whole>(X, Z), concat<whole>(mask(X, keep), Z)};
      })));
  check(make_program(kernel<"pairs">(
      [](in<"X", row, four> X, in<"Z", column, two> Z) -> out<"O", row, wide, column> {
        return concat<wide, four, two>(X, Z);
      })));
}

TEST_CASE("scans") {
  using x_ = in<"X", row, four>;
  using s_ = in<"s", four>;
  check(make_program(kernel<"carried">(
      [](x_ X, s_ s, param<"W", four, six> W,
         param<"U", six, four> U) -> outs<out<"O", row, four>, out<"last", four>> {
        auto [y, last] = scan<row>(
            s,
            [&](auto state, auto x) {
              auto next = tanh(dot<six>(dot<four>(state, W), U) + x);
              return std::pair{next, next * x};
            },
            X);
        return {y, last};
      })));
  // An absent next state leaves the state as it is; absent elements count for nothing.
  check(make_program(kernel<"kept">([](x_ X, s_ s, in<"on", b8, row> on) -> out<"last", four> {
    return scan<row>(s, [](auto state, auto x) { return state * 0.5f + x; }, mask_rows(X, on)).last;
  })));
  // So they do for the result of their position.
  check(make_program(
      kernel<"held">([](x_ X, s_ s, in<"on", b8, row> on)
                         -> outs<out<"O", row, four>, out<"P", row, four>, out<"last", four>> {
        auto step = [](auto state, auto x, auto k) { return mask(state * 0.5f + x * x, k); };
        auto [y, last] = scan<row>(s, step, X, on);
        auto doubled = scan<row>(
            s,
            [](auto state, auto x, auto k) {
              auto next = mask(state * 0.5f + x, k);
              return std::pair{next, next * 2.f};
            },
            X, on);
        return {y, doubled.result, last};
      })));
  // The gradient of one result alone, of which only what is beside the state depends.
  check(make_program(kernel<"beside">(
      [](in<"n", i32, row> n, param<"v", four> v) -> outs<out<"O", row, four>, out<"last", four>> {
        auto [y, last] = scan<row>(
            filled<four>(1),
            [&](auto state, auto k) { return std::pair{state * 0.9f + k, state * v}; }, n);
        return {y, last};
      })));
}

TEST_CASE("equal elements share the gradient of their minimum or maximum") {
  const program p = make_program(kernel<"ties">([](X_ X, Y_ Y) -> outs<out<"m", row>, O_, A_> {
    return {max<column>(X), min(X, Y), abs(X) + relu(X)};
  }));
  arrays a;
  a["X"] = {{1, 3}, {2, 2, 0}}, a["Y"] = {{1, 3}, {2, 5, 0}};
  a["dm"] = {{1}, {6}}, a["dO"] = {{1, 3}, {8, 8, 8}}, a["dA"] = {{1, 3}, {1, 1, 1}};
  const arrays d = interpret(codegen::gradient(p), a);
  CHECK(d.at("dX").data == std::vector<double>{3 + 4 + 2, 3 + 8 + 2, 4});
  CHECK(d.at("dY").data == std::vector<double>{4, 0, 4});
}

TEST_CASE("adjoints of absent elements count for nothing, even NaN") {
  const program p = make_program(
      kernel<"nan_behind">([](X_ X, in<"V", column, four> V, K_ keep) -> out<"O", row, four> {
        return dot<column>(softmax<column>(mask(X, keep)), V);
      }));
  const double nan = not_a_number;
  arrays a;
  a["X"] = {{2, 3}, {1, nan, 2, nan, nan, nan}};
  a["keep"] = {{2, 3}, {1, 0, 1, 0, 0, 0}};
  a["V"] = {{3, 4}, {1, 2, 3, 4, nan, nan, nan, nan, 5, 6, 7, 8}};
  a["dO"] = {{2, 4}, {1, -1, 2, 1, 3, 1, 1, 1}};
  const arrays d = interpret(codegen::gradient(p), a);
  for (const std::size_t k : {1, 3, 4, 5}) CHECK(d.at("dX").data[k] == 0);
  for (const std::size_t k : {0, 2}) CHECK(std::isfinite(d.at("dX").data[k]));
  for (const std::size_t k : {4, 5, 6, 7}) CHECK(d.at("dV").data[k] == 0);
}

TEST_CASE("slopes of branches that are not chosen count for nothing, even infinite ones") {
  const program p = make_program(
      kernel<"unchosen">([](X_ X, in<"P", column> P) -> outs<O_, A_, B_, out<"W", row, column>> {
        auto n = sum<column>(X * X);
        return {where(X > 0.f, log(X) * sqrt(X), X), where(X == 0.f, 0.f, 1.f / X),
                X * broadcast<column>(where(n > 0.f, rsqrt(n), 0.f)),
                softmax<column>(mask(X + broadcast<row>(log(P)), broadcast<row>(P > 0.f)))};
      }));
  arrays a;
  a["X"] = {{2, 3}, {0, -1, 2, 0, 0, 0}}, a["P"] = {{3}, {0, 1, 2}};
  for (const char *g : {"dO", "dA", "dB", "dW"}) a[g] = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  const arrays d = interpret(codegen::gradient(p), a);
  for (const double x : d.at("dX").data) CHECK(std::isfinite(x));
  CHECK(d.at("dP").data[0] == 0);
  for (const double x : d.at("dP").data) CHECK(std::isfinite(x));
}

TEST_CASE("the test sees a gradient that is off") {
  const program p = make_program(kernel<"off">([](X_ X, Y_ Y) -> O_ { return tanh(X) * Y; }));
  const codegen::size_map sizes = small_sizes(p);
  const arrays all = with_adjoints(p, arguments_for(p, sizes, 3), sizes, 4);
  const program right = codegen::gradient(p);
  CHECK(wrong_gradient(p, right, all, sizes) == "");
  int altered = 0;
  for (std::size_t k = 0; k < right.nodes.size(); ++k) {
    program g = right;
    if (g.nodes[k].kind == core::op::sub)
      std::swap(g.nodes[k].in[0], g.nodes[k].in[1]);
    else if (g.nodes[k].kind == core::op::mul)
      g.nodes[k].kind = core::op::add;
    else if (g.nodes[k].kind == core::op::number)
      g.nodes[k].value *= 1 + 1e-6;
    else
      continue;
    ++altered;
    CHECK(wrong_gradient(p, g, all, sizes) != "");
  }
  CHECK(altered >= 4);
}

TEST_CASE("refusals name the kernel and the step") {
  const auto text_of = [](auto make) {
    try {
      make();
    } catch (const std::runtime_error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const program p =
      make_program(kernel<"named">([](X_ X, in<"n", i32, column> n) -> O_ { return X * n; }));
  CHECK(text_of([&] { codegen::gradient(p, {"Z"}); }) == "named_gradient: named has no argument Z");
  CHECK(text_of([&] { codegen::gradient(p, {"n"}); }) ==
        "named_gradient: n is i32, which has no gradient");
  const program clash =
      make_program(kernel<"clash">([](X_ X, in<"dO", row> d) -> O_ { return X * d; }));
  CHECK(text_of([&] { codegen::gradient(clash); }) == "clash_gradient: two arguments are named dO");
  const program some = codegen::gradient(
      make_program(kernel<"some">([](X_ X, Y_ Y) -> O_ { return X * Y; })), {"Y"});
  REQUIRE(some.outputs.size() == 1);
  CHECK(some[some.outputs[0]].name == "dY");
}
