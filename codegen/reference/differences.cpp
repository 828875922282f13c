// SPDX-License-Identifier: BSL-1.0
#include "codegen/reference/differences.hpp"

#include <fmt/format.h>

#include <cmath>
#include <qkv/core/types.hpp>
#include <random>

namespace qkv::codegen {

program widened(const program &p) {
  program wide = p;
  for (node &n : wide.nodes)
    if (qkv::detail::is_float(n.type)) n.type = f64;
  return wide;
}

std::string adjoint_name(const node &n) { return "d" + n.name; }

namespace {

class differences {
 public:
  differences(const program &p, const arrays &all, const size_map &sizes)
      : p_(widened(p)), all_(all), sizes_(sizes) {}

  struct change {
    double value, error;  // at most: how far the two steps differ, and what rounding makes of them
    bool is_steady;       // both steps see the same one
  };
  change along(const std::string &name, const std::vector<double> &direction) const {
    const auto [near, noise] = quotient(name, direction, 1e-5L);
    const auto [far, less_noise] = quotient(name, direction, 2e-5L);
    const long double value = (4 * near - far) / 3;
    const long double apart = std::fabs(near - far), rounding = noise + less_noise;
    return {static_cast<double>(value), static_cast<double>(apart + 2 * rounding),
            apart <= 1e-6L * (1 + std::fabs(value)) + rounding || std::isnan(value)};
  }

 private:
  struct sum_of_changes {
    long double value = 0, noise = 0;
  };
  sum_of_changes quotient(const std::string &name, const std::vector<double> &direction,
                          long double step) const {
    arrays more = all_, less = all_;
    for (std::size_t k = 0; k < direction.size(); ++k) {
      const double by = static_cast<double>(step) * direction[k];
      more.at(name).data[k] += by;
      less.at(name).data[k] -= by;
    }
    const arrays a = interpret(p_, more, sizes_), b = interpret(p_, less, sizes_);
    sum_of_changes sum;
    for (node_id n : p_.outputs) {
      const auto adjoint = all_.find(adjoint_name(p_[n]));
      if (adjoint == all_.end()) continue;
      const array &above = a.at(p_[n].name), &below = b.at(p_[n].name);
      for (std::size_t k = 0; k < above.data.size(); ++k) {
        const long double moved = static_cast<long double>(above.data[k]) - below.data[k];
        if (!std::isfinite(moved)) continue;
        sum.value += adjoint->second.data[k] * moved;
        sum.noise += std::fabs(adjoint->second.data[k] * above.data[k]) * 0x1p-52;
      }
    }
    return {sum.value / (2 * step), sum.noise / (2 * step)};
  }

  const program p_;
  const arrays &all_;
  const size_map &sizes_;
};

// Numbers that are the same on every machine.
class directions {
 public:
  explicit directions(std::uint64_t seed) : bits_(seed) {}
  double next() { return static_cast<double>(bits_() >> 11) * 0x1p-52 - 1; }

 private:
  std::mt19937_64 bits_;
};

constexpr double tolerance = 1e-8;  // of the scale

void compare(compared_argument &c, const differences &d, const array &at, const array &gradient,
             directions &random) {
  constexpr std::size_t enough = 3;
  constexpr int most_turns = 12;
  if (gradient.shape != at.shape) {
    c.wrong = fmt::format("d{0} has another shape than {0}", c.name);
    return;
  }
  for (const double x : gradient.data)
    if (!std::isfinite(x)) {
      c.wrong = fmt::format("d{} has an element {}", c.name, x);
      return;
    }
  for (int turn = 0; turn < most_turns && c.slopes.size() < enough; ++turn) {
    std::vector<double> direction;
    slope s;
    for (const double each : gradient.data) {
      direction.push_back(random.next());
      s.by_gradient += each * direction.back();
      s.scale += std::fabs(each * direction.back());
    }
    const differences::change found = d.along(c.name, direction);
    if (!found.is_steady) continue;
    s.by_differences = found.value;
    c.slopes.push_back(s);
    if (!(std::fabs(s.by_differences - s.by_gradient) <= tolerance * s.scale + found.error)) {
      c.wrong = fmt::format("d{}: the result changes by {:.12g}, the gradient gives {:.12g}",
                            c.name, s.by_differences, s.by_gradient);
      return;
    }
  }
  if (c.slopes.size() < enough) c.wrong = fmt::format("d{}: kinks in most directions", c.name);
}

}  // namespace

std::vector<compared_argument> compare_with_differences(const program &forward,
                                                        const program &gradient, const arrays &all,
                                                        const size_map &sizes, std::uint64_t seed) {
  const arrays got = interpret(widened(gradient), all, sizes);
  const differences d(forward, all, sizes);
  directions random(seed);
  std::vector<compared_argument> compared;
  for (node_id n : forward.arguments) {
    const auto at = got.find(adjoint_name(forward[n]));
    if (at == got.end()) continue;
    compared.push_back({forward[n].name, {}, {}});
    compare(compared.back(), d, all.at(forward[n].name), at->second, random);
  }
  return compared;
}

}  // namespace qkv::codegen
