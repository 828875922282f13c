// SPDX-License-Identifier: BSL-1.0
// Binds and packs the weights once, then calls with the changing inputs. Checks a promise of
// causality: later tokens change nothing before them, to the last bit. Then the seven steps: their
// shapes, and that they give the same numbers from the same weights.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <qkv/call.hpp>
#include <random>
#include <string>

#include "spec.hpp"

namespace {

using qkv::f32, qkv::tensor, qkv::const_tensor_view;
constexpr int batch = 1, n = 4;
using tokens = tensor<f32, my::batch, my::seq, my::d_model>;

void randomise(auto &t, unsigned seed, float scale) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal(0, scale);
  for (float &x : t) x = normal(bits);
}

struct weights {
  tensor<f32, my::d_model, my::heads, my::d_k> Wq, Wk;
  tensor<f32, my::d_model, my::heads, my::d_v> Wv;
  tensor<f32, my::heads, my::d_v, my::d_model> Wo;
  tensor<f32, my::d_model> bo;
  weights() {
    randomise(Wq, 1, 0.04f), randomise(Wk, 2, 0.04f), randomise(Wv, 3, 0.04f);
    randomise(Wo, 4, 0.04f), randomise(bo, 5, 0.1f);
  }
};

// The number of tokens with equal results in both, to the bit.
int equal_tokens(const tokens &Y, const tokens &Z) {
  int same = 0;
  for (int i = 0; i < n; ++i) {
    bool equal = true;
    for (int c = 0; c < 512; ++c) equal = equal && Y(0, i, c) == Z(0, i, c);
    same += equal;
  }
  return same;
}

// The shape of a step or result of the kernel by its name, batch axes first.
std::string shape_of(const char *name) {
  const qkv::core::graph steps = my::mha_in_seven_steps.trace();
  const auto step = std::find_if(steps.begin(), steps.end(), [&](const qkv::core::node &x) {
    return std::string(x.label.begin(), x.label.end()) == name;
  });
  if (step == steps.end()) return std::string(name) + " (there is no such step)";
  std::string text;
  for (const bool batch_axes : {true, false})
    for (int k = 0; k < step->shape.n; ++k) {
      const qkv::core::axis_data *a = step->shape[k];
      if (a->batch != batch_axes) continue;
      const long size = a->size >= 0 ? a->size : a->batch ? batch : n;
      text += (text.empty() ? "(" : ",") + std::to_string(size);
    }
  return name + (" " + text + ")");
}

void print_steps() {
  const auto line = [](const char *step, auto... names) {
    std::string shapes;
    ((shapes += "  " + shape_of(names)), ...);
    std::printf("%-34s%s\n", step, shapes.c_str());
  };
  std::printf("\nseven steps\n");
  line("1 project", "X", "Q", "K", "V");
  line("2 split into heads", "heads", "key_heads", "value_heads");
  line("3 compare queries with keys", "scores");
  line("4 divide by sqrt(d_k), hide later", "scaled", "masked");
  line("5 softmax over the keys", "weights");
  line("6 weighted sum of the values", "context");
  line("7 concatenate, multiply with Wo", "concat", "Y");
}

// The matrices [512, 512] of a textbook are views of the same memory.
qkv::status in_seven_steps(const weights &w, const tokens &X, tokens &Y) {
  using projection = const_tensor_view<f32, my::d_model, my::d_attn>;
  return qkv::call<my::mha_in_seven_steps>(
      X, projection(w.Wq.data()), projection(w.Wk.data()), projection(w.Wv.data()),
      const_tensor_view<f32, my::d_attn, my::d_model>(w.Wo.data()), w.bo, Y);
}

}  // namespace

int main() {
  const weights w;
  const auto mha = qkv::prepare<my::mha>(w.Wq, w.Wk, w.Wv, w.Wo, w.bo);
  tokens X({batch, n}), Y({batch, n}), Z({batch, n}), in_steps({batch, n});
  randomise(X, 6, 1);
  qkv::status s = mha(X, Y);
  if (s) s = in_seven_steps(w, X, in_steps);
  for (int c = 0; c < 512; ++c) X(0, n - 1, c) += 1;  // another last token
  if (s) s = mha(X, Z);
  if (!s) {
    std::printf("%s\n", s.text());
    return 1;
  }
  const int same = equal_tokens(Y, Z);
  std::printf("another token %d: %d of the %d results before it are the same, to the bit\n", n,
              same, n - 1);

  print_steps();
  const bool right = std::equal(Y.begin(), Y.end(), in_steps.begin(),
                                [](float y, float z) { return std::abs(y - z) < 1e-5f; });
  std::printf("both kernels, the same weights: %s\n",
              right ? "the same numbers within 1e-5" : "WRONG");
  return same == n - 1 && right ? 0 : 1;
}
