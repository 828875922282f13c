// SPDX-License-Identifier: BSL-1.0
#include "ring/independent_axis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qkv::ring {
namespace {

bool all_results_have(const qkv_kernel &hop, std::string_view axis) {
  return std::all_of(hop.arguments, hop.arguments + hop.n_arguments, [&](const qkv_argument &a) {
    return a.role != QKV_OUT || has_axis(hop, a, axis);
  });
}

bool has_axis_called(const qkv_kernel &k, std::string_view name) {
  return std::any_of(k.axes, k.axes + k.n_axes, [&](const qkv_axis &a) { return a.name == name; });
}

// With the axes that are multiples of it.
independent_axis family(const qkv_kernel &hop, const std::string &name, const size_of_axis &size) {
  independent_axis one;
  one.name = name;
  one.size = size(name);
  one.multiples[name] = 1;
  for (int c = 0; c < hop.n_conditions; ++c) {
    const qkv_condition &split = hop.conditions[c];
    if (split.kind != QKV_PRODUCT || name != hop.axes[split.b].name) continue;
    const qkv_axis &inner = hop.axes[split.c];
    one.multiples[hop.axes[split.a].name] = inner.size >= 0 ? inner.size : size(inner.name);
  }
  return one;
}

// The largest share of a machine, the number of tensors of tokens that lack the axis: less is
// better.
std::pair<double, int> rank(const independent_axis &one, const parts &of, const qkv_kernel &hop,
                            int machines) {
  const double n = static_cast<double>(one.size);
  int lack = 0;
  for (int i = 0; i < hop.n_arguments; ++i) {
    const qkv_argument &a = hop.arguments[i];
    const bool is_of_tokens = has_axis(hop, a, of.query) || has_axis(hop, a, of.key);
    lack += is_of_tokens && !one.is_of(hop, a);
  }
  return {std::ceil(n / machines) / n, lack};
}

}  // namespace

bool independent_axis::is_of(const qkv_kernel &hop, const qkv_argument &a) const {
  return std::any_of(multiples.begin(), multiples.end(),
                     [&](const auto &axis) { return has_axis(hop, a, axis.first); });
}

positions independent_axis::of(int machine, int machines) const {
  const std::int64_t first = size * machine / machines;
  return {first, size * (machine + 1) / machines - first};
}

qkv_tensor independent_axis::part(const local_tensor &x, const positions &some) const {
  for (const auto &[axis, times] : multiples)
    if (const int d = x.place(axis); d >= 0) return x.part(d, some.first * times, some.n * times);
  return x.t;
}

std::int64_t independent_axis::extent(std::string_view axis, std::int64_t n,
                                      std::int64_t all) const {
  const auto at = multiples.find(axis);
  return at == multiples.end() ? all : n * at->second;
}

independent_axis independent_axis_of(const parts &of, const qkv_kernel &hop, int machines,
                                     const size_of_axis &size) {
  independent_axis best;
  for (int i = 0; i < hop.n_arguments; ++i) {
    const std::string name = name_after("first_", hop.arguments[i].name);
    const bool is_of_tokens = name.empty() || name == of.query || name == of.key;
    if (is_of_tokens || !has_axis_called(hop, name) || !all_results_have(hop, name)) continue;
    const independent_axis one = family(hop, name, size);
    if (one.size > 0 &&
        (best.size == 0 || rank(one, of, hop, machines) < rank(best, of, hop, machines)))
      best = one;
  }
  return best;
}

}  // namespace qkv::ring
