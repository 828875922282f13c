// SPDX-License-Identifier: BSL-1.0
#include "sample.hpp"

#include <algorithm>
#include <cmath>
#include <qkv/call.hpp>
#include <stdexcept>

namespace my {
namespace {

// A number with the probabilities exp(logits / temperature), up to a factor.
std::int32_t drawn(std::span<const float> logits, double temperature, random_numbers &random) {
  const float most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> sums;
  double sum = 0;
  for (const float logit : logits)
    sums.push_back(sum += std::exp(static_cast<double>(logit - most) / temperature));
  const double at = sum * static_cast<double>(random.uniform());
  const auto found = std::upper_bound(sums.begin(), sums.end() - 1, at);
  return static_cast<std::int32_t>(found - sums.begin());
}

}  // namespace

std::string sample(const text &words, const weights &w, random_numbers &random,
                   const std::string &begin, int length, double temperature) {
  const auto next = std::apply([](const auto &...t) { return qkv::prepare<model>(t...); }, w.all());
  std::vector<std::int32_t> ids = words.encode(begin);
  if (ids.empty()) throw std::runtime_error("no character of the beginning is known");
  const std::size_t given = ids.size();
  const std::int64_t most = w.places.extent<positions>(), size = w.W.extent<vocabulary>();
  for (int k = 0; k < length; ++k) {
    const std::int64_t n = std::min(most, static_cast<std::int64_t>(ids.size()));
    const qkv::const_tensor_view<i32, batch, seq> last(&*(ids.end() - n), {1, n});
    qkv::tensor<f32, batch, seq, vocabulary> logits({1, n});
    if (const qkv::status s = next(last, logits); !s) throw std::runtime_error(s.text());
    const std::span of_last(&logits(0, n - 1, 0), static_cast<std::size_t>(size));
    ids.push_back(drawn(of_last, temperature, random));
  }
  return words.decode({ids.begin() + static_cast<std::ptrdiff_t>(given), ids.end()});
}

}  // namespace my
