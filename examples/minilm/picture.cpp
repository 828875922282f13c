// SPDX-License-Identifier: BSL-1.0
#include "picture.hpp"

#include "codegen/sheets/attention_map.hpp"

namespace minilm {

std::string attention_picture(const encoder &model, const std::vector<std::int32_t> &ids,
                              const std::vector<std::string> &tokens) {
  const std::size_t n = ids.size();
  const auto W = model.first_attention(pad({ids}));
  std::vector<float> mean(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (int h = 0; h < 12; ++h) mean[i * n + j] += W(0, h, i, j) / 12;
  return qkv::attention_map_svg(mean, tokens, "all-MiniLM-L6-v2, first layer, mean of 12 heads");
}

}  // namespace minilm
