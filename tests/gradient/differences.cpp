#include "tests/gradient/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <qkv/core/types.hpp>

#include "tests/support/random.hpp"

namespace qkv::testing {

using codegen::array;
using codegen::arrays;
using codegen::axis_id;
using codegen::condition;
using codegen::node;
using codegen::node_id;
using codegen::program;
using codegen::size_map;

program widened(const program &p) {
  program wide = p;
  for (node &n : wide.nodes)
    if (detail::is_float(n.type)) n.type = f64;
  return wide;
}

size_map small_sizes(const program &p, std::int64_t first) {
  size_map sizes;
  std::int64_t next = first;
  for (axis_id a : codegen::run_time_axes(p)) sizes[p.axes[a].name] = p.axes[a].batch ? 2 : next++;
  const auto size = [&](axis_id a) -> std::int64_t {
    const codegen::axis &root = p.axes[p.axes[a].root];
    return root.size >= 0 ? root.size : sizes[root.name];
  };
  for (int turn = 0; turn < 3; ++turn)
    for (const condition &c : p.conditions) {
      const auto set = [&](axis_id a, std::int64_t n) {
        const codegen::axis &root = p.axes[p.axes[a].root];
        if (root.size < 0) sizes[root.name] = n;
        return root.size < 0;
      };
      const std::int64_t whole = c.what == condition::product ? size(c.b) * size(c.c)
                                 : c.what == condition::sum   ? size(c.b) + size(c.c)
                                                              : size(c.b);
      if (set(c.a, whole) || c.what == condition::same_size) continue;
      if (c.what == condition::product)
        set(c.b, size(c.a) / size(c.c)) || set(c.c, size(c.a) / size(c.b));
      else
        set(c.b, size(c.a) - size(c.c)) || set(c.c, size(c.a) - size(c.b));
    }
  return sizes;
}

namespace {

std::string name_of_adjoint(const node &n) { return "d" + n.name; }

class differences {
 public:
  differences(const program &p, const arrays &arguments, const arrays &adjoints,
              const size_map &sizes)
      : p_(widened(p)), arguments_(arguments), adjoints_(adjoints), sizes_(sizes) {}

  // The change of the sum of dO * O along a direction, and whether both steps see the same one.
  struct slope {
    double value;
    bool steady;
  };
  slope along(const std::string &name, const std::vector<double> &direction) const {
    const long double near = quotient(name, direction, 1e-5L),
                      far = quotient(name, direction, 2e-5L);
    const long double value = (4 * near - far) / 3;
    return {static_cast<double>(value),
            std::fabs(near - far) <= 1e-6L * (1 + std::fabs(value)) || std::isnan(value)};
  }

 private:
  long double quotient(const std::string &name, const std::vector<double> &direction,
                       long double step) const {
    arrays more = arguments_, less = arguments_;
    for (std::size_t k = 0; k < direction.size(); ++k) {
      const double by = static_cast<double>(step) * direction[k];
      more.at(name).data[k] += by;
      less.at(name).data[k] -= by;
    }
    const arrays a = interpret(p_, more, sizes_), b = interpret(p_, less, sizes_);
    long double sum = 0;
    for (const auto &[result, adjoint] : adjoints_)
      for (std::size_t k = 0; k < adjoint.data.size(); ++k) {
        const long double change =
            static_cast<long double>(a.at(result).data[k]) - b.at(result).data[k];
        if (std::isfinite(change)) sum += adjoint.data[k] * change;
      }
    return sum / (2 * step);
  }

  const program p_;
  const arrays &arguments_, &adjoints_;
  const size_map &sizes_;
};

arrays adjoints_of(const program &p, const arrays &all) {
  arrays some;
  for (node_id n : p.outputs)
    if (const auto at = all.find(name_of_adjoint(p[n])); at != all.end())
      some[p[n].name] = at->second;
  return some;
}

// The difference of one argument's gradient, in three directions; empty if it is right.
std::string wrong_argument(const differences &d, const std::string &name, const array &at,
                           const array &gradient, random_numbers &random) {
  if (gradient.shape != at.shape) return fmt::format("d{} has another shape than {}", name, name);
  for (const double x : gradient.data)
    if (!std::isfinite(x)) return fmt::format("d{} has an element {}", name, x);
  int compared = 0;
  for (int turn = 0; turn < 12 && compared < 3; ++turn) {
    std::vector<double> direction;
    double expected = 0, scale = 1;
    for (const double slope : gradient.data) {
      direction.push_back(random.normal());
      expected += slope * direction.back();
      scale += std::fabs(slope * direction.back());
    }
    const differences::slope found = d.along(name, direction);
    if (!found.steady) continue;
    ++compared;
    if (!(std::fabs(found.value - expected) <= 1e-8 * scale))
      return fmt::format("d{}: the result changes by {:.12g}, the gradient says {:.12g}", name,
                         found.value, expected);
  }
  return compared == 3 ? "" : fmt::format("d{}: kinks in most directions", name);
}

}  // namespace

arrays arguments_for(const program &p, const size_map &sizes, std::uint64_t seed, bool positive) {
  arrays all = random_arguments(p, sizes, seed);
  if (positive)
    for (node_id n : p.arguments)
      if (detail::is_float(p[n].type))
        for (double &x : all.at(p[n].name).data) x = std::fabs(x) + 0.5;
  return all;
}

arrays with_adjoints(const program &p, arrays arguments, const size_map &sizes,
                     std::uint64_t seed) {
  const arrays results = interpret(widened(p), arguments, sizes);
  const bool has_masks = std::any_of(p.nodes.begin(), p.nodes.end(),
                                     [](const node &n) { return n.kind == core::op::mask; });
  random_numbers random(seed);
  for (node_id n : p.outputs) {
    if (!detail::is_float(p[n].type)) continue;
    const array &result = results.at(p[n].name);
    array adjoint = random_array(result.shape, random);
    for (std::size_t k = 0; k < adjoint.data.size(); ++k)
      if (std::isinf(result.data[k]) && !has_masks) adjoint.data[k] = 0;
    arguments[name_of_adjoint(p[n])] = std::move(adjoint);
  }
  return arguments;
}

std::string wrong_gradient(const program &p, const program &gradient, const arrays &all,
                           const size_map &sizes, std::uint64_t seed) {
  const arrays adjoints = adjoints_of(p, all), got = interpret(widened(gradient), all, sizes);
  const differences d(p, all, adjoints, sizes);
  random_numbers random(seed + 1);
  for (node_id n : p.arguments) {
    const auto at = got.find(name_of_adjoint(p[n]));
    if (at == got.end()) continue;
    const std::string wrong = wrong_argument(d, p[n].name, all.at(p[n].name), at->second, random);
    if (!wrong.empty()) return gradient.name + ": " + wrong;
  }
  return "";
}

}  // namespace qkv::testing
