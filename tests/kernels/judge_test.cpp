// SPDX-License-Identifier: BSL-1.0
// The judge of compiled kernels excuses what rounding explains, and nothing else.
#include "tests/support/judge.hpp"

#include <cmath>
#include <qkv/dsl.hpp>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

using namespace qkv;
using namespace qkv::testing;

namespace {

constexpr axis<"n"> n;

constexpr auto products =
    kernel<"products">([](in<"A", n> A, in<"B", n> B) -> out<"O", n> { return A * B; });
// Where A is 0.5, rounding decides.
constexpr auto steps = kernel<"steps">([](in<"A", n> A, in<"B", n> B) -> out<"O", n> {
  return where(A < 0.5f, B, 0) + where(A < 0.25f, B, 0);
});
constexpr auto difference =
    kernel<"difference">([](in<"A", n> A, in<"B", n> B) -> out<"O"> { return sum<n>(A - B); });
constexpr auto shares = kernel<"shares">(
    [](in<"A", n> A, in<"B", n> B) -> out<"O"> { return dot<n>(B * sum<n>(normalize<n>(A)), B); });
constexpr auto truncated =
    kernel<"truncated">([](in<"A", n> A, in<"B", n> B) -> outs<out<"O", n>, out<"W", i32, n>> {
      return {A + B, cast<i32>(B)};
    });

struct example {
  codegen::program p;
  codegen::arrays arguments, results;

  std::vector<double> &result(const char *name) { return results.at(name).data; }
};

example made(codegen::program p, std::vector<double> a, std::vector<double> b) {
  const auto size = static_cast<std::int64_t>(a.size());
  const codegen::arrays arguments = {{"A", {{size}, std::move(a)}}, {"B", {{size}, std::move(b)}}};
  codegen::arrays results = codegen::interpret(p, arguments);
  return {std::move(p), arguments, std::move(results)};
}

std::string wrong(const example &e) { return wrong_results(e.p, e.arguments, {}, e.results); }
std::string wrong_special(const example &e) {
  return wrong_special_results(e.p, e.arguments, {}, e.results);
}

}  // namespace

TEST_CASE("zeros everywhere are wrong where the first element alone is 0") {
  example e = made(codegen::make_program(products), {0, 1, 2}, {3, 4, 5});
  CHECK(wrong(e) == "");
  e.result("O") = {0, 0, 0};
  CHECK(wrong(e) == "O is 0 everywhere: nothing was computed, or nothing is tested");
}

TEST_CASE("zeros everywhere are right where rounding alone could make them") {
  example e = made(codegen::make_program(difference), {0x1p30, 0x1p30, 1}, {0x1p30, 0x1p30, -1});
  CHECK(wrong(e) == "");
  e.result("O") = {0};
  CHECK(wrong(e) == "O is 0 everywhere: nothing was computed, or nothing is tested");
  e = made(codegen::make_program(difference), {0x1p30, -0x1p30, 1}, {1, 1, 1});
  REQUIRE(e.result("O")[0] == -2);
  e.result("O") = {0};
  CHECK(wrong(e) == "");
}

TEST_CASE("shares of both signs may cancel in their sum, and so be terms of a further one") {
  example e = made(codegen::make_program(shares), {1000, -999, 0}, {1, 1, 1});
  REQUIRE(e.result("O")[0] == 3);
  e.result("O") = {3.0001};
  CHECK(wrong(e) == "");
  e = made(codegen::make_program(shares), {1000, 999, 0}, {1, 1, 1});
  e.result("O") = {3.0001};
  CHECK(wrong(e).find("O is 3.0001, expected 3") == 0);
}

TEST_CASE("after many elements that rounding decides, the next one is judged") {
  example e = made(codegen::make_program(steps), std::vector<double>(1000, 0.5),
                   std::vector<double>(1000, 2));
  e.arguments.at("A").data.back() = 0.1;
  e.results = codegen::interpret(e.p, e.arguments);
  for (double &x : e.result("O")) x = 2;
  e.result("O").back() = 4;
  CHECK(wrong(e) == "");
  e.result("O").back() = 2;
  CHECK(wrong(e).find("O[n=999] is 2, expected 4") == 0);
}

TEST_CASE("beside NaN and infinities, finite and whole numbers are judged") {
  example e = made(codegen::make_program(truncated), {NAN, 1, INFINITY, 1}, {1.5, 2.5, 3.5, 4.5});
  CHECK(wrong_special(e) == "");
  e.result("W")[3] = 5;
  CHECK(wrong_special(e).find("W[n=3] is 5, expected 4") == 0);
  e.result("W")[3] = 4, e.result("O")[1] = 3.501;
  CHECK(wrong_special(e).find("O[n=1] is 3.501, expected 3.5") == 0);
  e.result("O")[1] = NAN;
  CHECK(wrong_special(e) == "O[1] is nan, not 3.5");
  e.result("O")[1] = 3.5, e.result("O")[0] = 1;
  CHECK(wrong_special(e) == "O[0] is 1, not nan");
}
