// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cmath>

#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto renamed = kernel<"renamed">(
    [](X_ X) -> out<"G", row, other> { return dot<column>(X, rename<row, other>(X)); });
constexpr auto parted = kernel<"parted">(
    [](in<"X", six, row> X) -> out<"O", row, three, two> { return split<six, two, three>(X); });
constexpr auto joined = kernel<"joined">(
    [](in<"X", two, row, three> X) -> outs<out<"O", row, six>, out<"P", row, six>> {
      return {merge<six, two, three>(X), merge<six, three, two>(X)};
    });
constexpr auto repeated = kernel<"repeated">(
    [](in<"x", column> x) -> out<"O", row, column> { return broadcast<row>(x); });
constexpr auto at_the_call = kernel<"at_the_call">(
    [](in<"X", row, column> X, in<"S", other, column> S) -> out<"O", row, three, column> {
      return split<other, row, three>(S) + broadcast<three>(X);
    });

constexpr auto of_nothing = kernel<"of_nothing">(
    [](X_ X, K_ keep,
       in<"n", i32, four> n) -> outs<out<"masked", row, four>, out<"weights", row, four>> {
      auto s = mask(X, keep);
      return {take<column>(exp(s), n), take<column>(cos(softmax<column>(s)), n)};
    });

// Vaswani et al. 2017, section 3.5: sines, then cosines.
constexpr auto encoded = kernel<"encoded">([](in<"X", row, six> X) -> out<"O", row, six> {
  auto angle = index(row) * pow(10000.0, index(three) * -2.0 / size(six));
  return X + concat<six, three, three>(sin(angle), cos(angle));
});
constexpr auto shifted = kernel<"shifted">([](in<"X", row, three> X) -> out<"O", other, three> {
  return concat<other, two, row>(broadcast<two>(index(three) * 0.5), X);
});

constexpr auto cut = kernel<"cut">(
    [](in<"X", six, row> X, in<"first", i32> first)
        -> outs<out<"two", two, row>, out<"late", three, row>, out<"called", three, row>> {
      return {slice<six, two>(X, 1), slice<six, three>(X, size(six) - 3),
              slice<six, three>(X, first)};
    });
constexpr auto constants = kernel<"constants">(
    [](in<"x", row> x, in<"n", i32, row> n)
        -> outs<out<"half", row, two>, out<"zero", row, two>, out<"seven", i32, row>> {
      return {broadcast<two>(x) + filled<row, two>(0.5), broadcast<two>(x) * zeros<row, two>(),
              n + filled<i32, row>(7)};
    });

}  // namespace

TEST_CASE("rename: the same numbers under another name") {
  const arrays a = matrices({4, 9});
  const array &X = a.at("X");
  QKV_SAME(meaning(renamed, a)["G"], (position{4, 4}), [&](auto i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 9; ++k) sum += at(X, {i[0], k}) * at(X, {i[1], k});
    return sum;
  });
}

TEST_CASE("split: position i is (i / b, i % b)") {
  random_numbers random(seed_or(5));
  for (std::int64_t n : {0, 1, 4}) {
    const array X = random_array({6, n}, random);
    QKV_SAME(meaning(parted, {{"X", X}})["O"], (position{n, 3, 2}),
             [&](auto i) { return at(X, {i[2] * 3 + i[1], i[0]}); });
  }
}

TEST_CASE(
    "merge: positions (i, j) at i * b + j, also of axes that lie apart or the other way round") {
  random_numbers random(seed_or(6));
  for (std::int64_t n : {0, 1, 4}) {
    const array X = random_array({2, n, 3}, random);
    arrays r = meaning(joined, {{"X", X}});
    QKV_SAME(r["O"], (position{n, 6}), [&](auto i) { return at(X, {i[1] / 3, i[0], i[1] % 3}); });
    QKV_SAME(r["P"], (position{n, 6}), [&](auto i) { return at(X, {i[1] % 2, i[0], i[1] / 2}); });
  }
}

TEST_CASE("broadcast: the same at every position of the added axes") {
  const array x = {{3}, {1, 2, 3}};
  QKV_SAME(meaning(repeated, {{"x", x}}, {{"row", 4}})["O"], (position{4, 3}),
           [&](auto i) { return x.data[i[1]]; });
}

TEST_CASE("concat: of positions and numbers, with an input or alone") {
  random_numbers random(seed_or(9));
  const arrays a = {{"X", random_array({4, 6}, random)}};
  QKV_SAME(meaning(encoded, a)["O"], (position{4, 6}), [&](auto i) {
    const double angle = static_cast<double>(i[0]) * std::pow(10000.0, (i[1] % 3) * -2.0 / 6);
    return at(a.at("X"), i) + (i[1] < 3 ? std::sin(angle) : std::cos(angle));
  });
  const arrays b = {{"X", random_array({4, 3}, random)}};
  QKV_SAME(meaning(shifted, b)["O"], (position{6, 3}), [&](auto i) {
    return i[0] < 2 ? 0.5 * static_cast<double>(i[1]) : at(b.at("X"), {i[0] - 2, i[1]});
  });
}

TEST_CASE("split: sizes that only the call knows must multiply") {
  random_numbers random(seed_or(7));
  arrays a = {{"X", random_array({2, 5}, random)}, {"S", random_array({6, 5}, random)}};
  QKV_SAME(meaning(at_the_call, a)["O"], (position{2, 3, 5}),
           [&](auto i) { return at(a["S"], {i[0] * 3 + i[1], i[2]}) + at(a["X"], {i[0], i[2]}); });
  a["S"] = random_array({7, 5}, random);
  CHECK_THROWS_WITH(meaning(at_the_call, a),
                    "at_the_call: split<other, row, three>: other is 7 but row * three is 2 * 3");
}

TEST_CASE("take: from no elements, absent ones if they may be masked, else 0") {
  arrays a = matrices({3, 0});
  a["n"] = {{4}, {0, 1, -1, 7}};
  const arrays r = meaning(of_nothing, a);
  QKV_SAME(r.at("masked"), (position{3, 4}), [](auto) { return -infinity; });
  QKV_SAME(r.at("weights"), (position{3, 4}), [](auto) { return 0; });
}

TEST_CASE("slice: from a position on; beyond the end, the last position again") {
  random_numbers random(seed_or(7));
  for (const std::int64_t n : {0, 1, 4}) {
    const array X = random_array({6, n}, random);
    for (const int first : {0, 3, 5, 9}) {
      array begin;
      begin.data = {static_cast<double>(first)};
      const arrays r = meaning(cut, {{"X", X}, {"first", begin}});
      QKV_SAME(r.at("two"), (position{2, n}), [&](auto i) { return at(X, {i[0] + 1, i[1]}); });
      QKV_SAME(r.at("late"), (position{3, n}), [&](auto i) { return at(X, {i[0] + 3, i[1]}); });
      QKV_SAME(r.at("called"), (position{3, n}),
               [&](auto i) { return at(X, {std::min<std::int64_t>(i[0] + first, 5), i[1]}); });
    }
  }
}

TEST_CASE("filled and zeros: one number everywhere") {
  random_numbers random(seed_or(8));
  const array x = random_array({5}, random);
  array n = x;
  for (double &k : n.data) k = std::floor(100 * k);
  const arrays r = meaning(constants, {{"x", x}, {"n", n}});
  QKV_SAME(r.at("half"), (position{5, 2}), [&](auto i) { return at(x, {i[0]}) + 0.5; });
  QKV_SAME(r.at("zero"), (position{5, 2}), [](auto) { return 0.0; });
  QKV_SAME(r.at("seven"), (position{5}), [&](auto i) { return at(n, i) + 7; });
}

}  // namespace qkv::testing
