// SPDX-License-Identifier: BSL-1.0
#include "tests/gradient/differences.hpp"

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
  const arrays results = interpret(codegen::widened(p), arguments, sizes);
  const bool has_masks = std::any_of(p.nodes.begin(), p.nodes.end(),
                                     [](const node &n) { return n.kind == core::op::mask; });
  random_numbers random(seed);
  for (node_id n : p.outputs) {
    if (!detail::is_float(p[n].type)) continue;
    const array &result = results.at(p[n].name);
    array adjoint = random_array(result.shape, random);
    for (std::size_t k = 0; k < adjoint.data.size(); ++k)
      if (std::isinf(result.data[k]) && !has_masks) adjoint.data[k] = 0;
    arguments[codegen::adjoint_name(p[n])] = std::move(adjoint);
  }
  return arguments;
}

std::string wrong_gradient(const program &p, const program &gradient, const arrays &all,
                           const size_map &sizes, std::uint64_t seed) {
  for (const codegen::compared_argument &c :
       codegen::compare_with_differences(p, gradient, all, sizes, seed))
    if (!c.wrong.empty()) return gradient.name + ": " + c.wrong;
  return "";
}

}  // namespace qkv::testing
