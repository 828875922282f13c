// SPDX-License-Identifier: BSL-1.0
#include "tool/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/dtype.hpp>

namespace qkv::tool {

kernel_sizes::kernel_sizes(const qkv_kernel &k)
    : k_(&k),
      size_(static_cast<std::size_t>(k.n_axes), -1),
      asked_(static_cast<std::size_t>(k.n_axes), false) {
  for (int a = 0; a < k.n_axes; ++a)
    size_[static_cast<std::size_t>(a)] = k.axes[k.axes[a].root].size;
}

bool kernel_sizes::set(std::string_view name, std::int64_t n) {
  for (int a = 0; a < k_->n_axes; ++a) {
    if (name != k_->axes[a].name) continue;
    const std::int64_t fixed = k_->axes[k_->axes[a].root].size;
    if (n < 0 || (fixed >= 0 && fixed != n)) return false;
    set(a, n);
    asked_[root(a)] = true;
    return true;
  }
  return false;
}

std::int64_t kernel_sizes::fixed(std::string_view name) const {
  for (int a = 0; a < k_->n_axes; ++a)
    if (name == k_->axes[a].name) return k_->axes[k_->axes[a].root].size;
  return -1;
}

void kernel_sizes::complete() {
  for (int round = 0; round < k_->n_conditions; ++round)
    for (int i = 0; i < k_->n_conditions; ++i) follow(k_->conditions[i]);
}

void kernel_sizes::complete_with(std::int64_t n) {
  complete();
  for (int a = 0; a < k_->n_axes; ++a) {
    if (known(a)) continue;
    set(a, std::string_view(k_->axes[a].name) == "batch" ? 1 : n);
    complete();
  }
}

void kernel_sizes::follow(const qkv_condition &c) {
  std::int64_t &a = size_[root(c.a)], &b = size_[root(c.b)];
  const bool adapts = k_->axes[root(c.a)].size < 0 && !asked_[root(c.a)];
  if (c.kind == QKV_SAME) {
    if (adapts && b >= 0) a = b;
    if (b < 0) b = a;
    return;
  }
  std::int64_t &f = size_[root(c.c)];
  if (b >= 0 && f >= 0) {
    if (adapts) a = c.kind == QKV_SUM ? b + f : b * f;
  } else if (c.kind == QKV_SUM) {
    if (b >= 0 && a >= b) f = a - b;
    if (f >= 0 && a >= f) b = a - f;
  } else if (a >= 0 && (b > 0 || f > 0)) {
    const std::int64_t by = b > 0 ? b : f;
    if (adapts) a = (a + by - 1) / by * by;
    if (a % by == 0) (b > 0 ? f : b) = a / by;
  }
}

int kernel_sizes::unknown() const {
  for (int a = 0; a < k_->n_axes; ++a) {
    if (!known(a)) return a;
  }
  return -1;
}

sizes kernel_sizes::by_name() const {
  sizes all;
  for (int a = 0; a < k_->n_axes; ++a) {
    if (known(a)) all[k_->axes[a].name] = of(a);
  }
  return all;
}

std::string kernel_sizes::text() const {
  std::string s;
  for (int a = 0; a < k_->n_axes; ++a) {
    if (k_->axes[a].root == a && k_->axes[a].size < 0)
      s += fmt::format("{}{}={}", s.empty() ? "" : " ", k_->axes[a].name, of(a));
  }
  return s.empty() ? "(sizes fixed)" : s;
}

std::vector<std::int64_t> kernel_sizes::shape(const qkv_argument &a) const {
  std::vector<std::int64_t> s;
  for (int d = 0; d < a.rank; ++d) s.push_back(of(a.axes[d]));
  return s;
}

void fill_at_random(const qkv_argument &a, std::int64_t shortest, std::int64_t largest_extent,
                    std::mt19937 &random, value &v) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<std::int64_t> length(shortest, largest_extent);
  const qkv_tensor &t = v.descriptor();
  const double scale = a.role == QKV_PARAM && t.rank > 1
                           ? 1 / std::sqrt(std::max<double>(1, static_cast<double>(t.extent[0])))
                           : 1;
  for (std::int64_t i = 0; i < v.elements(); ++i) {
    v.set(i, a.dtype == QKV_I32  ? static_cast<double>(length(random))
             : a.dtype == QKV_B8 ? static_cast<double>(random() % 4 != 0)
                                 : scale * normal(random));
  }
}

std::vector<value> random_arguments(const qkv_kernel &k, const kernel_sizes &s, unsigned seed,
                                    lengths how_long) {
  std::mt19937 random(seed);
  std::int64_t largest = 0;
  for (int a = 0; a < k.n_axes; ++a) {
    if (k.axes[a].size < 0) largest = std::max(largest, s.of(a));
  }
  std::vector<value> all;
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    value &v = all.emplace_back(a.dtype, s.shape(a));
    if (a.role != QKV_OUT) {
      fill_at_random(a, how_long == lengths::full ? largest : 0, largest, random, v);
    } else {
      for (std::int64_t e = 0; e < v.elements(); ++e)
        v.set(e, std::numeric_limits<double>::quiet_NaN());
    }
  }
  return all;
}

std::vector<qkv_tensor> descriptors(const std::vector<value> &all) {
  std::vector<qkv_tensor> t;
  for (const value &v : all) t.push_back(v.descriptor());
  return t;
}

std::string signature_text(const qkv_kernel &k) {
  std::vector<std::string> in, out;
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    std::vector<std::string> axes;
    for (int d = 0; d < a.rank; ++d) {
      const qkv_axis &axis = k.axes[a.axes[d]];
      axes.push_back(axis.size < 0 ? std::string(axis.name)
                                   : fmt::format("{}={}", axis.name, axis.size));
    }
    std::string s =
        fmt::format("{}{}[{}]", a.role == QKV_PARAM ? "param " : "", a.name, fmt::join(axes, ", "));
    if (a.dtype != QKV_F32) s += fmt::format(" {}", name_of(static_cast<dtype>(a.dtype)));
    (a.role == QKV_OUT ? out : in).push_back(s);
  }
  return fmt::format("{}({}) -> {}", k.name, fmt::join(in, ", "), fmt::join(out, ", "));
}

}  // namespace qkv::tool
