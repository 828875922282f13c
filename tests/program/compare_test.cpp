// SPDX-License-Identifier: BSL-1.0
// The comparer catches planted errors and lets honest float32 pass.
#include "codegen/reference/compare.hpp"

#include <qkv/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {
namespace {

using codegen::compare;
using codegen::expectation;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A million numbers around 1 in rows of 64; the loops are off by up to 1e-6 and 2e-6.
expectation million() {
  random_numbers random(seed_or(1));
  expectation e;
  e.name = "O";
  e.axes = {"batch", "seq", "d_v"};
  e.shape = {4, 4096, 64};
  for (int k = 0; k < 4 * 4096 * 64; ++k) {
    e.reference.push_back(random.uniform(-1, 1));
    e.in_sequence.push_back(e.reference.back() + random.uniform(-1e-6, 1e-6));
    e.in_eights.push_back(e.reference.back() + random.uniform(-2e-6, 2e-6));
  }
  e.fused = e.in_sequence;
  e.noise.assign(e.reference.size(), 0);
  return e;
}
const expectation &big() {
  static const expectation e = million();
  return e;
}

expectation small(std::vector<double> reference) {
  expectation e;
  e.name = "O";
  e.axes = {"seq"};
  e.shape = {static_cast<std::int64_t>(reference.size())};
  e.noise.assign(reference.size(), 0);
  e.reference = e.in_sequence = e.in_eights = e.fused = std::move(reference);
  return e;
}

std::vector<double> row_of(std::int64_t n, double x) {
  return std::vector<double>(static_cast<std::size_t>(n), x);
}

double largest_yardstick(const expectation &e) {
  double y = 0;
  for (std::size_t k = 0; k < e.reference.size(); ++k)
    y = std::max({y, std::fabs(e.in_sequence[k] - e.reference[k]),
                  std::fabs(e.in_eights[k] - e.reference[k])});
  return y;
}

}  // namespace

TEST_CASE("compare: the reference itself and both loops are right") {
  const expectation &e = big();
  CHECK(compare(e, e.reference).right);
  CHECK(compare(e, e.in_sequence).right);
  CHECK(compare(e, e.in_eights).right);
}

TEST_CASE("compare: 3 times the loops' error is caught, 1.9 times passes") {
  const expectation &e = big();
  const double y = largest_yardstick(e);
  std::vector<double> worse = e.reference;
  for (std::size_t k = 0; k < worse.size(); ++k) worse[k] += (k % 2 ? 1.9 : -1.9) * y;
  CHECK(compare(e, worse).right);
  for (std::size_t k = 0; k < worse.size(); ++k) worse[k] = e.reference[k] + (k % 2 ? 3 : -3) * y;
  CHECK_FALSE(compare(e, worse).right);
}

TEST_CASE("compare: one wrong element in a million is found and named") {
  const expectation &e = big();
  for (const double factor : {1.9, 3.0}) {
    std::vector<double> result = e.in_sequence;
    const std::size_t k = (2 * 4096 + 77) * 64 + 5;
    result[k] = e.reference[k] + factor * largest_yardstick(e);
    const codegen::verdict v = compare(e, result);
    CHECK(v.right == (factor < 2));
    CHECK(v.at == static_cast<std::int64_t>(k));
    CHECK(v.text.find("O[batch=2, seq=77, d_v=5]") != std::string::npos);
  }
}

TEST_CASE("compare: a small row is not judged by the errors of a large one") {
  expectation e = small({1000, 900, 1e-3, 1e-3});
  e.shape = {2, 2};
  e.axes = {"row", "column"};
  e.in_sequence = {1000 * (1 + 1e-7), 900, 1e-3 * (1 + 1e-7), 1e-3};
  CHECK(compare(e, std::vector<double>{1000, 900, 1e-3 * (1 + 1.5e-7), 1e-3}).right);
  CHECK_FALSE(compare(e, std::vector<double>{1000, 900, 1e-3 + 1e-6, 1e-3}).right);
}

TEST_CASE("compare: where the loops are exact, a few units in the last place are noise") {
  const expectation e = small({1, 2, 3});
  CHECK(compare(e, std::vector<double>{1, 2, 3 * (1 + 0x1p-23)}).right);
  CHECK_FALSE(compare(e, std::vector<double>{1, 2, 3 * (1 + 0x1p-21)}).right);
}

TEST_CASE("compare: infinities and NaN stand where they should") {
  const expectation e = small({1, infinity, -infinity, not_a_number, 2});
  const auto right = [&](std::vector<double> result) { return compare(e, result).right; };
  CHECK(right({1, infinity, -infinity, not_a_number, 2}));
  CHECK_FALSE(right({infinity, 1, -infinity, not_a_number, 2}));
  CHECK_FALSE(right({1, -infinity, -infinity, not_a_number, 2}));
  CHECK_FALSE(right({1, 3e38, -infinity, not_a_number, 2}));
  CHECK_FALSE(right({1, infinity, -infinity, 2, not_a_number}));
  CHECK_FALSE(right({1, infinity, -infinity, 0, 2}));
  CHECK_FALSE(right({1, infinity, not_a_number, not_a_number, 2}));
  CHECK_FALSE(right({1, infinity, -infinity, not_a_number, infinity}));
}

TEST_CASE("compare: what float32 cannot hold is an infinity") {
  const expectation e = small({1e39, 1});
  CHECK(compare(e, std::vector<double>{infinity, 1}).right);
  CHECK_FALSE(compare(e, std::vector<double>{3e38, 1}).right);
}

TEST_CASE("compare: what float32 loops cannot keep finite is not demanded") {
  expectation e = small({10, 1});
  e.in_sequence[0] = e.fused[0] = infinity, e.in_eights[0] = not_a_number;
  CHECK(compare(e, std::vector<double>{infinity, 1}).right);
  CHECK(compare(e, std::vector<double>{10, 1}).right);
  e.in_eights[0] = 10;
  CHECK_FALSE(compare(e, std::vector<double>{infinity, 1}).right);
}

TEST_CASE("compare: a promised zero is exactly 0") {
  expectation e = small({0, 1});
  CHECK(compare(e, std::vector<double>{1e-9, 1}).right);
  e.zero = {true, false};
  CHECK(compare(e, std::vector<double>{0, 1}).right);
  CHECK(compare(e, std::vector<double>{-0.0, 1}).right);
  const codegen::verdict v = compare(e, std::vector<double>{1e-30, 1});
  CHECK_FALSE(v.right);
  CHECK(v.text == "O[seq=0] is 1e-30, but exactly 0 is promised");
}

TEST_CASE("compare: zeros everywhere are not believed unless promised") {
  expectation e = small({0, 0, 0});
  CHECK_FALSE(compare(e, std::vector<double>{0, 0, 0}).right);
  e.zero = {true, true, true};
  CHECK(compare(e, std::vector<double>{0, 0, 0}).right);
  CHECK_FALSE(compare(small({1e-8, 1e-8}), std::vector<double>{0, 0}).right);
}

TEST_CASE("compare: no elements, a scalar, a wrong number of elements") {
  CHECK(compare(small({}), std::vector<double>{}).right);
  CHECK_FALSE(compare(small({1, 2}), std::vector<double>{1}).right);
  expectation scalar = small({2});
  scalar.shape = {}, scalar.axes = {};
  CHECK(compare(scalar, std::vector<double>{2}).right);
  CHECK(compare(scalar, std::vector<double>{3}).text.find("O is 3, expected 2") == 0);
}

// ---- with a kernel ------------------------------------------------------------------------------
namespace {

constexpr batch_axis<"batch"> batch;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr alias<"seq_too", seq> seq_too;
constexpr axis<"d_k", 16> d_k;

constexpr auto attention = kernel<"attention">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, kv, d_k> K, in<"V", batch, kv, d_k> V,
       in<"len", i32, batch> len) -> outs<out<"O", batch, seq, d_k>, out<"W", batch, seq, kv>> {
      auto w = softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < len));
      return {dot<kv>(w, V), w};
    });

}  // namespace

TEST_CASE("judge: masked weights and empty rows are promised zeros") {
  const codegen::program p = codegen::make_program(attention);
  arrays a = random_arguments(p, {{"batch", 2}, {"seq", 6}}, seed_or(2));
  a["len"].data = {0, 4};
  arrays r = codegen::interpret_as_float(p, a, {}, codegen::order::in_eights);
  CHECK(codegen::judge(p, a, {}, r).right);
  arrays wrong = r;
  wrong["W"].data[36 + 5] = 1e-12;  // batch 1, query 0, key 5: behind the mask
  CHECK_FALSE(codegen::judge(p, a, {}, wrong).right);
  wrong = r;
  wrong["O"].data[3] = 1e-12;  // batch 0 sees no key
  CHECK_FALSE(codegen::judge(p, a, {}, wrong).right);
  wrong = r;
  wrong.erase("O");
  CHECK(codegen::judge(p, a, {}, wrong).text == "O is missing");
}

TEST_CASE("doubtful: what judge finds wrong is left, what is exact is not") {
  const codegen::program p = codegen::make_program(attention);
  arrays a = random_arguments(p, {{"batch", 2}, {"seq", 6}}, seed_or(2));
  a["len"].data = {0, 4};
  const codegen::arrays exact = codegen::interpret(p, a);
  CHECK(codegen::doubtful(p, a, {}, exact).empty());
  int right = 0, wrong = 0;
  for (const char *name : {"O", "W"})
    for (std::size_t k = 0; k < exact.at(name).data.size(); k += 17)
      for (double off = 1e-10; off < 1; off *= 64) {
        arrays r = exact;
        r[name].data[k] += off;
        const auto left = codegen::doubtful(p, a, {}, r);
        const bool accepted = std::all_of(
            left.begin(), left.end(),
            [&](const codegen::expectation &e) { return compare(e, r.at(e.name).data).right; });
        if (accepted != codegen::judge(p, a, {}, r).right)
          FAIL(name << "[" << k << "] off by " << off);
        ++(accepted ? right : wrong);
      }
  CHECK(right > 20);
  CHECK(wrong > 20);
  arrays missing = exact;
  missing.erase("O");
  CHECK_FALSE(codegen::doubtful(p, a, {}, missing).empty());
  arrays unknown = exact;
  unknown["O"].data[40] = NAN;
  CHECK_FALSE(codegen::doubtful(p, a, {}, unknown).empty());
}

TEST_CASE(
    "judge: a zero behind a threshold is not promised, one that everybody computes is believed") {
  constexpr auto gated = kernel<"gated">([](in<"X", seq> X) -> out<"O", seq> { return relu(X); });
  const codegen::program p = codegen::make_program(gated);
  arrays a = {{"X", {{3}, {-1, -2, -3}}}};
  CHECK(codegen::judge(p, a, {}, {{"O", {{3}, {0, 0, 0}}}}).right);
  CHECK_FALSE(codegen::judge(p, a, {}, {{"O", {{3}, {0, 0, 1e-3}}}}).right);
  a["X"].data[0] = 1;
  CHECK(codegen::judge(p, a, {}, {{"O", {{3}, {1, 0, 1e-9}}}}).right);
  CHECK_FALSE(codegen::judge(p, a, {}, {{"O", {{3}, {0, 0, 0}}}}).right);
}

TEST_CASE("judge: f64 is held to double precision, what f32 it is made of is not") {
  constexpr auto precise = kernel<"precise">(
      [](in<"X", f64, seq, d_k> X,
         in<"Y", kv, d_k> Y) -> outs<out<"P", f64, seq, seq_too>, out<"M", f64, seq, kv>> {
        return {dot<d_k>(X, rename<seq, seq_too>(X)), dot<d_k>(X, cast<f64>(exp(Y)))};
      });
  const codegen::program p = codegen::make_program(precise);
  const arrays a = random_arguments(p, {{"seq", 9}}, seed_or(4));
  const arrays honest = codegen::interpret_as_double(p, a, {}, codegen::order::in_sequence);
  CHECK(codegen::judge(p, a, {}, honest).right);
  arrays rounded = honest;
  for (double &x : rounded["M"].data) x = static_cast<float>(x);
  CHECK(codegen::judge(p, a, {}, rounded).right);
  for (double &x : rounded["P"].data) x = static_cast<float>(x);
  CHECK_FALSE(codegen::judge(p, a, {}, rounded).right);
}

namespace {

// Terms of 1e8 cancel in every loop before the small ones are added; added from the end, they
// swallow those.
codegen::verdict judge_cancelling(const auto &kernel, const std::function<float(float)> &after) {
  const codegen::program p = codegen::make_program(kernel);
  arrays a = {{"X", {{1, 16}, row_of(16, 1)}}, {"Y", {{1, 16}, row_of(16, 0)}}};
  auto &y = a["Y"].data;
  y[0] = 1e8, y[8] = -1e8;
  for (std::size_t k = 9; k < 16; ++k) y[k] = 0.5;
  float sum = 0;
  for (std::size_t k = 16; k-- > 0;) sum += static_cast<float>(y[k]);
  CHECK(sum == 0);
  return codegen::judge(p, a, {}, {{"O", {{1}, {after(sum)}}}});
}

}  // namespace

TEST_CASE("judge: another order of contractions sums other terms last") {
  constexpr auto plain =
      kernel<"plain">([](in<"A", kv> A, in<"B", kv, d_k> B, in<"C", d_k> C) -> out<"O"> {
        return dot<d_k>(dot<kv>(A, B), C);
      });
  constexpr auto other =
      kernel<"other">([](in<"A", kv> A, in<"B", kv, d_k> B, in<"C", d_k> C) -> out<"O"> {
        return dot<kv>(A, dot<d_k>(B, C));
      });
  const codegen::program p = codegen::make_program(plain), computed = codegen::make_program(other);
  constexpr std::int64_t columns = d_k.v.size;
  arrays a = {{"A", {{8}, row_of(8, 1)}},
              {"B", {{8, columns}, row_of(8 * columns, 0.5)}},
              {"C", {{columns}, row_of(columns, 1)}}};
  // 1e8 and -1e8 cancel in each column of B, before columns are added.
  for (std::int64_t d = 0; d < columns; ++d) a["B"].data[d] = 1e8, a["B"].data[columns + d] = -1e8;
  const double exact = 3.0 * columns;
  const auto judged = [&](double x, const codegen::program *form) {
    return codegen::judge(p, a, {}, {{"O", {{}, {x}}}}, form).right;
  };
  CHECK(judged(exact, nullptr));
  CHECK_FALSE(judged(exact + 16, nullptr));
  CHECK(judged(exact + 16, &computed));
  CHECK_FALSE(judged(exact + 100.0 * columns, &computed));
  CHECK(codegen::doubtful(p, a, {}, {{"O", {{}, {exact}}}}, &computed).empty());
}

TEST_CASE("judge: another order of a sum is right where terms cancel") {
  constexpr auto plain = kernel<"plain">([
  ](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> { return dot<d_k>(X, Y); });
  CHECK(judge_cancelling(plain, [](float x) { return x + 1e-3f; }).right);
  CHECK_FALSE(judge_cancelling(plain, [](float x) { return x + 60; }).right);
  constexpr auto after =
      kernel<"after">([](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> {
        return tanh(dot<d_k>(X, Y) / 1000);
      });
  CHECK(judge_cancelling(after, [](float x) { return x + 1e-6f; }).right);
  CHECK_FALSE(judge_cancelling(after, [](float x) { return x + 0.06f; }).right);
  constexpr auto total =
      kernel<"total">([](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> {
        return sum<d_k>(X * Y) + 1;
      });
  CHECK(judge_cancelling(total, [](float x) { return x + 1; }).right);
  constexpr auto cancelled =
      kernel<"cancelled">([](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> {
        return sum<d_k>(normalize<d_k>(X + Y) * Y);
      });
  CHECK(judge_cancelling(cancelled, [](float) { return 1e16f; }).right == false);
}

TEST_CASE("judge: where rounding decides, either result is right") {
  constexpr auto chosen =
      kernel<"chosen">([](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> {
        return where(dot<d_k>(X, Y) > 0, 1, 2);
      });
  CHECK(judge_cancelling(chosen, [](float) { return 2; }).right);
  constexpr auto clear =
      kernel<"clear">([](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> {
        return where(dot<d_k>(X, Y) > -60, 1, 2);
      });
  CHECK(judge_cancelling(clear, [](float) { return 1; }).right);
  CHECK_FALSE(judge_cancelling(clear, [](float) { return 2; }).right);
  constexpr auto masked =
      kernel<"masked">([](in<"X", batch, d_k> X, in<"Y", batch, d_k> Y) -> out<"O", batch> {
        return max<d_k>(mask_rows(Y, dot<d_k>(X, Y) > 0));
      });
  CHECK(judge_cancelling(masked, [](float) { return -infinity; }).right);
}

TEST_CASE("judge: terms whose sum overflows in another order") {
  constexpr auto total =
      kernel<"total">([](in<"X", batch, d_k> X) -> out<"O", batch> { return sum<d_k>(X); });
  const codegen::program p = codegen::make_program(total);
  arrays a = {{"X", {{1, 16}, row_of(16, 0)}}};
  a["X"].data[0] = 3e38, a["X"].data[8] = -3e38, a["X"].data[9] = 2e38;
  CHECK(codegen::judge(p, a, {}, {{"O", {{1}, {2e38}}}}).right);
  CHECK(codegen::judge(p, a, {}, {{"O", {{1}, {infinity}}}}).right);
  a["X"].data[0] = 1e38, a["X"].data[8] = -1e38, a["X"].data[9] = 1e38;
  CHECK_FALSE(codegen::judge(p, a, {}, {{"O", {{1}, {infinity}}}}).right);
}

TEST_CASE("judge: a state that fades may be 0 from the smallest normal number on") {
  constexpr auto fading = kernel<"fading">([](in<"X", seq, d_k> X) -> out<"O", d_k> {
    return scan<seq>(zeros<d_k>() + 1, [](auto s, auto x) { return s * x; }, X).last;
  });
  const codegen::program p = codegen::make_program(fading);
  const auto judged = [&](std::int64_t n, double got) {
    return codegen::judge(p, {{"X", {{n, 16}, row_of(16 * n, 0.5)}}}, {},
                          {{"O", {{16}, row_of(16, got)}}});
  };
  CHECK(judged(2000, 0).right);  // 2^-2000
  CHECK(judged(130, 0).right);   // a denormal number and its flushed value
  CHECK(judged(130, 0x1p-130).right);
  CHECK_FALSE(judged(100, 0).right);
  CHECK(judged(100, 0x1p-100).right);
}

TEST_CASE("judge: nothing to compute from") {
  const codegen::program p = codegen::make_program(attention);
  const arrays a = random_arguments(p, {{"batch", 2}, {"seq", 0}}, seed_or(3));
  CHECK(codegen::judge(p, a, {}, codegen::interpret(p, a)).right);
}

}  // namespace qkv::testing
