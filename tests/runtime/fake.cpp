// SPDX-License-Identifier: BSL-1.0
#include "fake.hpp"

#include <algorithm>
#include <cmath>

namespace fake {
namespace {

int blend_entry(void **args) {
  const auto &q = buffer(args, 0), &k = buffer(args, 1), &v = buffer(args, 2), &o = buffer(args, 3);
  const int keys = size(args, args[7] ? 7 : 6);
  for (int b = 0; b < o.dim[2].extent; ++b) {
    for (int s = 0; s < o.dim[1].extent; ++s) {
      for (int d = 0; d < 4; ++d) {
        float sum = at<float>(q, {b, s, d});
        for (int j = 0; j < keys; ++j) sum += at<float>(k, {b, j, d}) * at<float>(v, {b, j, d});
        at<float>(o, {b, s, d}) = sum;
      }
    }
  }
  return 0;
}

// Run-time sizes follow the four buffers: batch, seq, kv; or batch, seq where kv is an alias.
int blend_self_entry(void **args) {
  void *all[] = {args[0], args[1], args[2], args[3], args[4], args[5], args[6], nullptr};
  return blend_entry(all);
}

int project_entry(void **args) {
  const auto &x = buffer(args, 0), &w = buffer(args, 1), &y = buffer(args, 2);
  if (w.dimensions != 3 || w.dim[0].extent != 4) return -8;
  const int rows = size(args, 5), n = size(args, 6);
  for (int s = 0; s < y.dim[2].extent; ++s) {
    for (int c = 0; c < n * 3; ++c) {
      float sum = 0;
      for (int r = 0; r < rows; ++r) sum += at<float>(x, {s, r}) * at<float>(w, {c / 4, r, c % 4});
      at<float>(y, {s, c / 3, c % 3}) = sum;
    }
  }
  return 0;
}

void attend(const halide_buffer_t &q, const halide_buffer_t &k, const halide_buffer_t &v,
            const halide_buffer_t &o, int b, int h, int g, int s, bool causal) {
  const bool grouped = q.dimensions == 5;
  const auto row = [&](const halide_buffer_t &x) {
    return grouped ? &at<float>(x, {b, h, g, s, 0}) : &at<float>(x, {b, h, s, 0});
  };
  const int keys = causal ? s + 1 : k.dim[1].extent;
  float sum = 0, out[4] = {};
  for (int j = 0; j < keys; ++j) {
    float score = 0;
    for (int d = 0; d < 4; ++d) score += row(q)[d] * at<float>(k, {b, h, j, d});
    const float weight = std::exp(score / 2);
    sum += weight;
    for (int d = 0; d < 4; ++d) out[d] += weight * at<float>(v, {b, h, j, d});
  }
  for (int d = 0; d < 4; ++d) row(o)[d] = out[d] / sum;
}

int sdpa_entry(void **args) {
  const auto &q = buffer(args, 0), &k = buffer(args, 1), &v = buffer(args, 2), &o = buffer(args, 3);
  const bool grouped = q.dimensions == 5;
  const int batch = q.dim[grouped ? 4 : 3].extent, heads = q.dim[grouped ? 3 : 2].extent,
            groups = grouped ? q.dim[2].extent : 1;
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int g = 0; g < groups; ++g)
        for (int s = 0; s < q.dim[1].extent; ++s) attend(q, k, v, o, b, h, g, s, grouped);
  return 0;
}

std::vector<argument> blend_arguments() {
  return {{"Q", QKV_IN, QKV_F32, {0, 1, 3}},
          {"K", QKV_IN, QKV_F32, {0, 2, 3}},
          {"V", QKV_IN, QKV_F32, {0, 2, 3}},
          {"O", QKV_OUT, QKV_F32, {0, 1, 3}}};
}

}  // namespace

library &blend() {
  static library l("blend", {{"batch"}, {"seq"}, {"kv"}, {"d", 4}}, blend_arguments(), blend_entry);
  return l;
}

library &blend_self() {
  static library l("blend_self", {{"batch"}, {"seq"}, {"kv", -1, 1}, {"d", 4}}, blend_arguments(),
                   blend_self_entry);
  return l;
}

library &project() {
  static const std::int32_t rows[] = {0}, columns[] = {1, 2};
  static library l("project", {{"seq"}, {"k"}, {"n"}, {"m", 3}},
                   {{"X", QKV_IN, QKV_F32, {0, 1}},
                    {"W", QKV_PARAM, QKV_F32, {1, 2, 3}},
                    {"Y", QKV_OUT, QKV_F32, {0, 2, 3}}},
                   project_entry);
  static const bool once =
      (l.with(std::vector<qkv_pack>{{1, 4, 0, 1, 2, nullptr, rows, columns}}), true);
  (void)once;
  return l;
}

library &sdpa_none() {
  static library l("sdpa_none", {{"batch"}, {"heads"}, {"seq"}, {"kv"}, {"d", 4}},
                   {{"Q", QKV_IN, QKV_F32, {0, 1, 2, 4}},
                    {"K", QKV_IN, QKV_F32, {0, 1, 3, 4}},
                    {"V", QKV_IN, QKV_F32, {0, 1, 3, 4}},
                    {"O", QKV_OUT, QKV_F32, {0, 1, 2, 4}}},
                   sdpa_entry);
  return l;
}

library &sdpa_causal() {
  static library l("sdpa_causal_h2",
                   {{"batch"}, {"heads"}, {"group", 2}, {"seq"}, {"kv", -1, 3}, {"d", 4}},
                   {{"Q", QKV_IN, QKV_F32, {0, 1, 2, 3, 5}},
                    {"K", QKV_IN, QKV_F32, {0, 1, 4, 5}},
                    {"V", QKV_IN, QKV_F32, {0, 1, 4, 5}},
                    {"O", QKV_OUT, QKV_F32, {0, 1, 2, 3, 5}}},
                   sdpa_entry);
  return l;
}

qkv_tensor tensor(void *data, std::initializer_list<std::int64_t> extents, int dtype) {
  qkv_tensor t{};
  t.data = data;
  t.dtype = dtype;
  t.rank = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), t.extent);
  std::int64_t dense = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    t.stride[d] = dense;
    dense *= t.extent[d];
  }
  return t;
}

}  // namespace fake
