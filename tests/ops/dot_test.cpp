// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto product =
    kernel<"product">([](in<"A", row, other> A, in<"B", column, other> B) -> out<"O", row, column> {
      return dot<other>(A, B);
    });

constexpr auto batched = kernel<"batched">([
](in<"A", batch, row, other> A, in<"B", other, batch, column> B) -> out<"O", batch, column, row> {
  return dot<other>(A, B);
});

constexpr auto two_axes = kernel<"two_axes">(
    [](in<"A", row, four, other> A, param<"W", other, four, column> W) -> out<"O", row, column> {
      return dot<four, other>(A, W);
    });

constexpr auto masked =
    kernel<"masked">([](X_ X, K_ keep, in<"V", column, other> V) -> out<"O", row, other> {
      return dot<column>(mask(X, keep), V);
    });

}  // namespace

TEST_CASE("dot: rows times columns") {
  for (std::int64_t n : {0, 1, 5})
    for (std::int64_t m : {0, 1, 9})
      for (std::int64_t k : {0, 1, 7, 20}) {
        random_numbers random(seed_or(11));
        const array A = random_array({n, k}, random), B = random_array({m, k}, random);
        QKV_SAME(meaning(product, {{"A", A}, {"B", B}})["O"], (position{n, m}), [&](auto i) {
          double sum = 0;
          for (std::int64_t f = 0; f < k; ++f) sum += at(A, {i[0], f}) * at(B, {i[1], f});
          return sum;
        });
      }
}

TEST_CASE("dot: a batch axis rides along, axes in any order") {
  random_numbers random(seed_or(12));
  const array A = random_array({2, 3, 5}, random), B = random_array({5, 2, 4}, random);
  QKV_SAME(meaning(batched, {{"A", A}, {"B", B}})["O"], (position{2, 4, 3}), [&](auto i) {
    double sum = 0;
    for (std::int64_t f = 0; f < 5; ++f) sum += at(A, {i[0], i[2], f}) * at(B, {f, i[0], i[1]});
    return sum;
  });
}

TEST_CASE("dot: over two axes") {
  random_numbers random(seed_or(13));
  const array A = random_array({3, 4, 5}, random), W = random_array({5, 4, 2}, random);
  QKV_SAME(meaning(two_axes, {{"A", A}, {"W", W}})["O"], (position{3, 2}), [&](auto i) {
    double sum = 0;
    for (std::int64_t f = 0; f < 4; ++f)
      for (std::int64_t g = 0; g < 5; ++g) sum += at(A, {i[0], f, g}) * at(W, {g, f, i[1]});
    return sum;
  });
}

TEST_CASE("dot: what a mask removed contributes nothing, not even NaN") {
  arrays a = {{"X", {{2, 3}, {1, 2, 3, 4, 5, 6}}},
              {"keep", {{2, 3}, {1, 0, 1, 0, 0, 0}}},
              {"V", {{3, 1}, {10, not_a_number, 100}}}};
  CHECK(meaning(masked, a)["O"].data == std::vector<double>{310, 0});
  a["keep"].data[1] = 1;
  CHECK(std::isnan(meaning(masked, a)["O"].data[0]));
}

TEST_CASE("dot: float32 sums in order and in eighths differ from the exact one only by rounding") {
  const codegen::program p = codegen::make_program(product);
  const arrays a = random_arguments(p, {{"row", 4}, {"column", 4}, {"other", 1000}}, seed_or(14));
  const auto exact = codegen::interpret(p, a)["O"].data;
  const auto sequence =
      codegen::interpret_as_float(p, a, {}, codegen::order::in_sequence)["O"].data;
  const auto eights = codegen::interpret_as_float(p, a, {}, codegen::order::in_eights)["O"].data;
  CHECK(sequence != eights);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    CHECK(std::fabs(sequence[k] - exact[k]) < 1e-3);
    CHECK(std::fabs(eights[k] - exact[k]) < 1e-3);
    CHECK(static_cast<float>(sequence[k]) == sequence[k]);
  }
}

}  // namespace qkv::testing
