// SPDX-License-Identifier: BSL-1.0
// Decodes a sequence step by step, compares it with one causal call, and shows a full cache. Given
// a folder, measures tokens per second over the length of the context and draws them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <qkv/kv_cache.hpp>
#include <random>
#include <string>
#include <vector>

#include "examples/line_plot.hpp"
#include "examples/stopwatch.hpp"
#include "spec.hpp"

namespace {

using namespace qkv;
using queries = tensor<my::batch, my::heads, my::seq, my::d_k>;
using values = tensor<my::batch, my::heads, my::seq, my::d_v>;
using cache = kv_cache<my::batch, my::slots, tensor<my::batch, my::heads, my::slots, my::d_k>,
                       tensor<my::batch, my::heads, my::slots, my::d_v>>;

template <class T>
T random_tensor(int n, unsigned seed) {
  T t({1, n});
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(random);
  return t;
}

// Position i of a tensor, as a sequence of length 1 in place.
template <auto Feature, class T>
auto token(const T &t, int i) {
  const auto n = t.template extent<my::seq>();
  return const_tensor_view<my::batch, my::heads, my::seq, Feature>(t.data() + i * 64, {1, 1},
                                                                   {8 * n * 64, n * 64, 64, 1});
}

bool decode_equals_prefill() {
  constexpr int n = 64;
  const auto Q = random_tensor<queries>(n, 1), K = random_tensor<queries>(n, 2);
  const auto V = random_tensor<values>(n, 3);
  values whole({1, n}), one({1, 1});
  status s = call<my::prefill>(Q, view_as<my::batch, my::heads, my::kv, my::d_k>(K),
                               view_as<my::batch, my::heads, my::kv, my::d_v>(V), whole);
  cache c(extents(extent<my::batch>(1), extent<my::slots>(n)));
  float worst = 0;
  for (int i = 0; i < n && s.ok(); ++i) {
    s = c.attend<my::decode>(token<my::d_k>(K, i), token<my::d_v>(V, i), token<my::d_k>(Q, i), one);
    for (int h = 0; h < 8; ++h)
      for (int d = 0; d < 64; ++d)
        worst = std::max(worst, std::abs(one(0, h, 0, d) - whole(0, h, i, d)));
  }
  const bool right = s.ok() && worst < 2e-6f;
  std::printf("%d steps of decode: %s\n", n,
              right    ? "equal to one causal call within 2e-6"
              : s.ok() ? "WRONG"
                       : s.text());
  // one more does not fit: a status, and nothing is lost
  s = c.attend<my::decode>(token<my::d_k>(K, 0), token<my::d_v>(V, 0), token<my::d_k>(Q, 0), one);
  std::printf("%s; it still holds %d\n", s.text(), c.lengths()(0));
  return right && !s.ok() && c.lengths()(0) == n;
}

void measure(const std::string &folder) {
  std::vector<double> context, rate;
  std::printf("\n%8s %18s\n", "context", "tokens per second");
  for (int n = 256; n <= 16384; n *= 2) {
    const auto Q = random_tensor<queries>(1, 1), K = random_tensor<queries>(n - 1, 2);
    const auto V = random_tensor<values>(n - 1, 3);
    values O({1, 1});
    cache c(extents(extent<my::batch>(1), extent<my::slots>(n)));
    if (!c.append(K, V)) return;
    const double seconds = examples::seconds([&] {
      (void)c.attend<my::decode>(options{.threads = 1}, token<my::d_k>(K, 0), token<my::d_v>(V, 0),
                                 Q, O);
      (void)c.truncate(0, n - 1);
    });
    context.push_back(n);
    rate.push_back(1 / seconds);
    std::printf("%8d %18.0f\n", n, rate.back());
  }
  const std::string path = folder + "/decode.svg";
  std::ofstream(path) << examples::line_plot("one layer, 8 heads of 64, one thread",
                                             "positions in the cache", "tokens per second", context,
                                             {{"decode", "#2471a3", rate}});
  std::printf("picture: %s\n", path.c_str());
}

}  // namespace

int main(int argc, char **argv) {
  const bool right = decode_equals_prefill();
  if (right && argc > 1) measure(argv[1]);
  return right ? 0 : 1;
}
