// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/same.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/half.hpp>
#include <qkv/core/types.hpp>

#include "tests/support/random.hpp"

namespace qkv::fuzz {

using codegen::arrays;
using codegen::node_id;
using codegen::order;

arrays in_double(const codegen::program &p, const arrays &arguments, const codegen::size_map &s) {
  return interpret_as_double(p, arguments, s, order::in_sequence);
}

meaning::meaning(const codegen::program &p, const arrays &arguments, const codegen::size_map &s)
    : p_(p),
      arguments_(arguments),
      sizes_(s),
      exact_(in_double(p, arguments, s)),
      sequence_(interpret_as_float(p, arguments, s, order::in_sequence)),
      eights_(interpret_as_float(p, arguments, s, order::in_eights)) {}

// False if slightly different arguments give a different result: a comparison of equal numbers, a
// rounding.
bool meaning::is_stable(const std::string &output, std::size_t k, double off) const {
  codegen::program wide = p_;  // so that 16-bit arguments move too
  for (node_id n : wide.arguments)
    if (detail::is_float(wide[n].type) && wide[n].type != f64) wide.nodes[n].type = f32;
  const double at = exact_.at(output).data[k];
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const arrays moved = in_double(wide, testing::jittered(p_, arguments_, 1e-13, seed), sizes_);
    const double there = moved.at(output).data[k];
    if (std::isfinite(at) != std::isfinite(there) || std::fabs(at - there) > 0.01 * off)
      return false;
  }
  return true;
}

// False if the element depends on what a contraction that is not finite gives: where its terms are
// infinities, another order of the same contractions makes it NaN or either infinity.
bool meaning::is_same_in_any_order(const std::string &output, std::size_t k) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double at = exact_.at(output).data[k];
  for (const double other : {std::nan(""), infinity, -infinity}) {
    const auto altered = [&](const codegen::node &n, std::vector<double> &values) {
      if (n.kind != codegen::op::dot && !is_reduction(n.kind) && n.kind != codegen::op::cumsum)
        return;
      for (double &x : values)
        if (!std::isfinite(x)) x = other;
    };
    const double there =
        interpret_as_double(p_, arguments_, sizes_, order::in_sequence, altered).at(output).data[k];
    if (there != at && !(std::isnan(there) && std::isnan(at))) return false;
  }
  return true;
}

// The error of rounding stored results of stages to double, beyond that of one plain loop. It
// matters where results cancel.
double meaning::noise_at(const std::string &output, std::size_t k) const {
  if (noise_.empty()) {
    codegen::program wide = p_;
    for (codegen::node &n : wide.nodes)
      if (n.type == f32) n.type = f64;
    noise_ = interpret_and_measure(wide, arguments_, sizes_).noise;
  }
  return noise_.at(output).data[k];
}

std::string meaning::differs(const arrays &other) const {
  for (node_id n : p_.outputs) {
    const std::string &name = p_[n].name;
    const auto &want = exact_.at(name).data, &one = sequence_.at(name).data,
               &two = eights_.at(name).data, &got = other.at(name).data;
    if (other.at(name).shape != exact_.at(name).shape) return name + " has another shape";
    const std::size_t row =
        exact_.at(name).shape.empty() ? 1 : static_cast<std::size_t>(exact_.at(name).shape.back());
    for (std::size_t first = 0; first < want.size(); first += row) {
      double noise = 0, scale = 0;
      for (std::size_t k = first; k < first + row; ++k) {
        if (!std::isfinite(want[k])) continue;
        scale = std::max(scale, std::fabs(want[k]));
        for (double f : {one[k], two[k]})
          if (std::isfinite(f)) noise = std::max(noise, std::fabs(f - want[k]));
      }
      for (std::size_t k = first; k < first + row; ++k) {
        if (p_[n].type == i32 && stored(i32, want[k]) == stored(i32, got[k])) continue;
        if (want[k] == got[k] || (std::isnan(want[k]) && std::isnan(got[k]))) continue;
        // Another order of the same sums may give NaN instead of an infinity.
        const bool both_infinite = std::isinf(want[k]) && std::isinf(got[k]);
        if (!std::isfinite(want[k]) && !std::isfinite(got[k]) && !both_infinite) continue;
        const double off = std::fabs(want[k] - got[k]);
        const auto same_kind = [&](double f) {
          return std::isnan(want[k])   ? std::isnan(f)
                 : std::isinf(want[k]) ? f == want[k]
                                       : std::isfinite(f);
        };
        if (off <= 1e-5 * noise + 1e-11 * scale) continue;
        if (!same_kind(one[k]) || !same_kind(two[k])) continue;  // overflow or close to a pole
        if (std::isfinite(off) && off <= 2 * noise_at(name, k)) continue;
        if (!is_stable(name, k, std::isfinite(off) ? off : 1e300)) continue;
        if (!is_same_in_any_order(name, k)) continue;
        return fmt::format("{}[{}] is {:.9g}, not {:.9g}", name, k, got[k], want[k]);
      }
    }
  }
  return "";
}

}  // namespace qkv::fuzz
