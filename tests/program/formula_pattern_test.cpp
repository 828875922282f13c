// SPDX-License-Identifier: BSL-1.0
// Patterns of formulas: what they match, and what is not one.
#include "codegen/program/formula_pattern.hpp"

#include <qkv/dsl.hpp>

#include <stdexcept>

#include "codegen/program/from_graph.hpp"
#include "codegen/program/text.hpp"
#include "tests/catch.hpp"

namespace qkv::testing::patterns {
namespace {

using codegen::formula_pattern;
using codegen::node_id;
using codegen::pattern_match;

constexpr axis<"seq"> seq;
constexpr axis<"d", 8> d;

// Z = F(X, Y); true if the step that is stored looks like the pattern.
template <auto F>
bool looks_like(const char *pattern) {
  const codegen::program p = codegen::make_program(kernel<"k">(
      [](in<"X", seq, d> X, in<"Y", seq, d> Y) -> out<"Z", seq, d> { return F(X, Y); }));
  return formula_pattern(pattern).find(p, p[p.outputs[0]].in[0],
                                       [](const pattern_match &) { return true; });
}

}  // namespace

TEST_CASE("a variable stands for one step") {
  CHECK(looks_like<[](auto X, auto) { return X * exp(X); }>("x * exp(x)"));
  CHECK_FALSE(looks_like<[](auto X, auto Y) { return X * exp(Y); }>("x * exp(x)"));
  CHECK(looks_like<[](auto X, auto Y) { return X * exp(Y); }>("x * exp(y)"));
}

TEST_CASE("operands of sums and products stand in either order") {
  CHECK(looks_like<[](auto X, auto Y) { return X + exp(Y); }>("exp(y) + x"));
  CHECK(looks_like<[](auto X, auto Y) { return exp(Y) * (1 + X); }>("(x + 1) * exp(y)"));
  CHECK_FALSE(looks_like<[](auto X, auto Y) { return X - exp(Y); }>("exp(y) - x"));
  CHECK_FALSE(looks_like<[](auto X, auto Y) { return X / exp(Y); }>("exp(y) / x"));
}

TEST_CASE("an operation has the axes of its variable") {
  constexpr auto same = [](auto X, auto) { return X / (sum<d>(X) * mean<d>(X)); };
  constexpr auto two = [](auto X, auto) { return X / (sum<seq>(X) * mean<seq>(X)); };
  CHECK(looks_like<same>("x / (sum<a>(x) * mean<a>(x))"));
  CHECK(looks_like<two>("x / (sum<a>(x) * mean<a>(x))"));
  constexpr auto unlike = [](auto X, auto) { return (X / sum<d>(X)) / sum<seq>(X); };
  CHECK(looks_like<unlike>("(x / sum<a>(x)) / sum<b>(x)"));
  CHECK_FALSE(looks_like<unlike>("(x / sum<a>(x)) / sum<a>(x)"));
}

TEST_CASE("numbers are those of the pattern") {
  CHECK(looks_like<[](auto X, auto) { return 0.5f * X; }>("x * 0.5"));
  CHECK_FALSE(looks_like<[](auto X, auto) { return 0.25f * X; }>("x * 0.5"));
  CHECK(looks_like<[](auto X, auto) { return 0.25f * X; }>("x * #n"));
  CHECK(looks_like<[](auto X, auto) { return X * -1.0f; }>("x * -1"));
  CHECK(looks_like<[](auto X, auto) { return (X + 3) * 3; }>("(x + #n) * #n"));
  CHECK_FALSE(looks_like<[](auto X, auto) { return (X + 3) * 4; }>("(x + #n) * #n"));
}

TEST_CASE("a small number that is added does not matter, and a named step is not looked into") {
  CHECK(looks_like<[](auto X, auto) { return log(exp(X) + 1e-6f); }>("log(exp(x))"));
  CHECK_FALSE(looks_like<[](auto X, auto) { return log(exp(X) + 1); }>("log(exp(x))"));
  CHECK_FALSE(looks_like<[](auto X, auto) { return log(let<"e">(exp(X))); }>("log(exp(x))"));
  CHECK(looks_like<[](auto X, auto) { return log(let<"e">(exp(X))); }>("log(x)"));
}

TEST_CASE("max<a>(x) is a reduction and max(x, y) is not") {
  CHECK(looks_like<[](auto X, auto) { return X - max<d>(X); }>("x - max<a>(x)"));
  CHECK(looks_like<[](auto X, auto Y) { return X - max(X, Y); }>("x - max(x, y)"));
  CHECK_FALSE(looks_like<[](auto X, auto Y) { return X - max(X, Y); }>("x - max<a>(x)"));
}

TEST_CASE("all matches are tried until one is accepted") {
  const codegen::program p = codegen::make_program(
      kernel<"k">([](in<"X", seq, d> X, in<"Y", seq, d> Y) -> out<"Z", seq, d> { return X + Y; }));
  int seen = 0;
  const auto find = [&](const char *wanted) {
    return formula_pattern("x + y").find(p, p[p.outputs[0]].in[0], [&](const pattern_match &m) {
      ++seen;
      return p[m["x"]].name == wanted;
    });
  };
  CHECK(find("Y"));
  CHECK(seen == 2);
  CHECK_FALSE(find("Z"));
}

TEST_CASE("what is not a formula is refused with its place") {
  const auto refusal = [](const char *text) -> std::string {
    try {
      formula_pattern p(text);
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  CHECK(refusal("x + ") == "pattern \"x + \": expected a name before \"\"");
  CHECK(refusal("(x + y") == "pattern \"(x + y\": expected ')' before \"\"");
  CHECK(refusal("expp(x)") ==
        "pattern \"expp(x)\": expected an operation in place of \"expp\" before \"(x)\"");
  CHECK(refusal("x y") == "pattern \"x y\": expected an operator before \"y\"");
}

}  // namespace qkv::testing::patterns
