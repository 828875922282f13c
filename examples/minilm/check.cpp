// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "vectors.hpp"

namespace minilm {
namespace {

// The largest difference in the rows of tokens that are not padding.
double worst_of(const auto &got, const std::vector<float> &want, const padded &p) {
  double worst = 0;
  for (std::size_t b = 0; b < p.sentences(); ++b)
    for (std::size_t h = 0; h < 12; ++h)
      for (std::size_t k = 0; k < static_cast<std::size_t>(p.lengths[b]) * p.width; ++k) {
        const std::size_t at = (b * 12 + h) * p.width * p.width + k;
        worst = std::max(worst, std::abs(double(got.data()[at]) - want[at]));
      }
  return worst;
}

bool verdict(bool right) {
  std::printf(": %s\n", right ? "right" : "WRONG");
  return right;
}

}  // namespace

bool equals_original(const tokenizer &pieces, const encoder &model, const original &want) {
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::string &s : want.sentences) ids.push_back(pieces.encode(s));
  const padded p = pad(ids);
  std::printf("  tokens of %zu sentences", p.sentences());
  if (!verdict(p.ids == want.ids && want.attention.size() == 12 * p.ids.size() * p.width))
    return false;

  const double worst = worst_of(model.first_attention(p), want.attention, p);
  std::printf("  attention weights of the first layer differ by %.1e", worst);
  bool right = verdict(worst < 1e-5);

  const auto got = model.encode(p);
  double least = 1;
  for (std::size_t b = 0; b < p.sentences(); ++b)
    least = std::min(least, cosine(row(got, b, 384), row(want.embedding, b, 384)));
  std::printf("  least cosine of a sentence with the original's %.9f", least);
  return verdict(least > 0.99999) && right;
}

}  // namespace minilm
