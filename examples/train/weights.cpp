// SPDX-License-Identifier: BSL-1.0
#include "weights.hpp"

#include <cmath>

namespace my {
namespace {

void randomise(auto &t, random_numbers &random, double deviation) {
  const auto largest = static_cast<float>(deviation * std::sqrt(3.0));
  for (float &x : t) x = largest * (2 * random.uniform() - 1);
}

}  // namespace

std::size_t count_of(const weights &w) {
  std::size_t n = 0;
  for (const auto &numbers : numbers_of(w)) n += numbers.size();
  return n;
}

weights random_weights(random_numbers &random) {
  weights w;
  const double of_model = 1 / std::sqrt(static_cast<double>(w.W1.extent<d_model>()));
  const double of_feed = 1 / std::sqrt(static_cast<double>(w.W2.extent<d_ff>()));
  randomise(w.words, random, 0.02);
  randomise(w.places, random, 0.02);
  randomise(w.W, random, of_model / 2);
  for (auto *t : {&w.Wq, &w.Wk, &w.Wv}) randomise(*t, random, of_model);
  randomise(w.Wo, random, of_model / 2);
  randomise(w.W1, random, of_model);
  randomise(w.W2, random, of_feed / 2);
  w.gain.fill(1), w.gain1.fill(1), w.gain2.fill(1);
  return w;
}

}  // namespace my
