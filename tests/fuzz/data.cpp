// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/data.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <qkv/core/half.hpp>
#include <stdexcept>

#include "codegen/program/queries.hpp"

namespace qkv::fuzz {

using codegen::axis_id;
using codegen::node_id;
using codegen::program;
using codegen::size_map;

double work_of(const program &p, const size_map &sizes) {
  const auto size = codegen::all_sizes(p, sizes);
  double all = 0;
  for (const codegen::node &n : p.nodes) {
    double work = 1;
    for (axis_id a : codegen::with(
             n.shape, is_view(n.kind) || is_gather(n.kind) ? std::vector<axis_id>{} : n.over))
      work *= static_cast<double>(size[a]);
    all += work;
  }
  // Every step of a scan is computed at every position.
  for (axis_id a = 0; a < static_cast<axis_id>(p.axes.size()); ++a)
    for (const codegen::node &n : p.nodes)
      if (n.kind == op::carried && n.over[0] == a) all *= 1 + static_cast<double>(size[a]) / 8;
  return all;
}

namespace {

// False if the spec uses the size of an axis that is empty. It would divide by that size, and the
// result is undefined: 0 / sqrt(0) as written, 0 in another order of contraction.
bool fits(const program &p, const size_map &sizes) {
  try {
    const auto size = codegen::all_sizes(p, sizes);
    for (const codegen::node &n : p.nodes)
      if (n.kind == op::size && size[n.over[0]] == 0) return false;
    return true;
  } catch (const std::invalid_argument &) {
    return false;
  }
}

// Draws one axis after the other, except those that follow from others.
std::optional<size_map> attempt(const program &p, dice &d, const std::vector<long> &lengths) {
  size_map sizes;
  std::vector<axis_id> open = codegen::run_time_axes(p);
  if (d.chance(0.5)) d.shuffle(open);
  for (axis_id a : open) {
    try {
      if (codegen::resolve_sizes(p, sizes)[a] >= 0) continue;
      const long size = p.axes[a].batch ? 1 + d.below(3) : d.one_of(lengths);
      sizes[p.axes[a].name] = size;
      codegen::resolve_sizes(p, sizes);
    } catch (const std::invalid_argument &) {
      return {};
    }
  }
  return fits(p, sizes) ? std::optional(sizes) : std::nullopt;
}

}  // namespace

std::optional<size_map> sizes_for(const program &p, dice &d, const std::vector<long> &lengths,
                                  double work) {
  std::vector<long> shorter = lengths;
  for (int tries = 0; tries < 60; ++tries) {
    if (tries == 15)
      for (long &n : shorter) n = std::max(1L, n);
    std::optional<size_map> s = attempt(p, d, shorter);
    if (s && work_of(p, *s) <= work) return s;
    if (tries >= 4)
      for (long &n : shorter) n = n > 2 ? 1 + static_cast<long>(0.7 * static_cast<double>(n)) : n;
    if (tries == 30) shorter = {1, 2, 3, 4, 6};
  }
  return {};
}

namespace {

double normal(dice &d) {
  const double u = 1 - d.uniform(), v = d.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

// A length, a position or a count; `far`: often at an end of i32, where sums wrap around.
double whole_number(dice &d, int most, bool far) {
  if (!far || d.chance(0.5)) return d.below(most + 4) - 2;
  const double off = d.below(4);
  return d.chance(0.5) ? std::numeric_limits<std::int32_t>::max() - off
                       : std::numeric_limits<std::int32_t>::min() + off;
}

double number(dice &d, dtype type, double shrink) {
  const double x = normal(d) * shrink;
  return type == f64 ? x : stored(type, static_cast<float>(x));
}

}  // namespace

codegen::arrays arguments_for(const program &p, const size_map &sizes, dice &d, int special) {
  const auto size = codegen::all_sizes(p, sizes);
  std::int64_t longest = 0;
  for (std::int64_t n : size) longest = std::max(longest, n);
  codegen::arrays all;
  for (node_id n : p.arguments) {
    codegen::array a;
    for (axis_id x : p[n].shape) a.shape.push_back(size[x]);
    a.data.resize(static_cast<std::size_t>(codegen::elements(p[n].shape, size)));
    const dtype type = p[n].type;
    const bool weights = p[n].kind == op::param && a.shape.size() > 1;
    const double shrink =
        weights ? 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, a.shape[0]))) : 1;
    const int most = d.chance(0.5) ? static_cast<int>(std::min<std::int64_t>(longest, 100)) : 3;
    const bool far = type == i32 && d.chance(0.2);
    for (double &x : a.data) {
      if (type == i32)
        x = whole_number(d, most, far);
      else if (type == b8)
        x = d.below(4) != 0;
      else if (special && d.below(special) == 0)
        x = d.one_of(std::vector<double>{std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity()});
      else
        x = number(d, type, shrink);
    }
    all[p[n].name] = std::move(a);
  }
  return all;
}

}  // namespace qkv::fuzz
