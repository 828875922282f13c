// SPDX-License-Identifier: BSL-1.0
// dropout: of weights and of activations, against uniform() of the same seed.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

using seed_ = in<"seed", i32>;

constexpr auto thinned = kernel<"thinned">(
    [](S_ S, V_ V, in<"keep", b8, batch, heads, seq, mem> keep,
       seed_ seed) -> outs<O_, out<"w", batch, heads, seq, mem>, out<"u", batch, heads, seq, mem>> {
      auto w = softmax<mem>(mask(S, keep));
      return {dot<mem>(dropout<0.3>(w, seed), V), w, S * 0 + uniform<batch, heads, seq, mem>(seed)};
    });
constexpr auto activations = kernel<"activations">(
    [](in<"X", batch, seq, d_k> X, seed_ seed)
        -> outs<out<"Y", batch, seq, d_k>, out<"all", batch, seq, d_k>, out<"f", batch, seq, d_k>> {
      return {dropout<0.25>(X, seed), dropout<0>(X, seed), dropout<0.25>(X, 5)};
    });

}  // namespace

TEST_CASE("dropout: weights are left out after the softmax, which counted them") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(thinned, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(thinned, a);
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&, m = m](const position &i) {
      return sum_of(m, [&](int64_t j) {
        const position pair = {i[0], i[1], i[2], j};
        return at(r["u"], pair) < 0.3
                   ? 0
                   : at(r["w"], pair) / 0.7 * at(a.at("V"), {i[0], i[1], j, i[3]});
      });
    });
  }
}

TEST_CASE("dropout: the mean over seeds is what was there") {
  arrays a = arguments_of(activations, {{"batch", 2}, {"seq", 3}});
  a["X"].data.assign(36, 2);
  CHECK(meaning(activations, a)["all"].data == a["X"].data);
  std::vector<double> sum(36, 0);
  const int seeds = 4000;
  int neither = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    a["seed"].data = {static_cast<double>(seed)};
    const arrays r = meaning(activations, a);
    for (std::size_t k = 0; k < 36; ++k) {
      const double y = r.at("Y").data[k];
      neither += y != 0 && !same_number(y, 2 / 0.75);
      sum[k] += y;
    }
    if (seed == 5) CHECK(r.at("f").data == r.at("Y").data);
  }
  CHECK(neither == 0);
  // of one element, the standard deviation is 2 sqrt(p / (1 - p))
  for (const double s : sum)
    CHECK(std::fabs(s / seeds - 2) < 5 * 2 * std::sqrt(0.25 / 0.75) / std::sqrt(seeds));
}

}  // namespace qkv::testing
