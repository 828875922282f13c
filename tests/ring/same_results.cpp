// SPDX-License-Identifier: BSL-1.0
#include "tests/ring/same_results.hpp"

#include <fmt/format.h>

#include <cmath>

#include "codegen/reference/differences.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/ring/machines.hpp"
#include "tests/support/random.hpp"

namespace qkv::testing {
namespace {

bool agree(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b ||
         std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(a));
}

codegen::axis_id root_of(const codegen::program &p, const std::string &name) {
  for (const codegen::axis &a : p.axes)
    if (a.name == name) return a.root;
  return -1;
}

std::int64_t size_of(const codegen::program &p, const std::string &name,
                     const codegen::size_map &sizes) {
  return sizes.at(p.axes[static_cast<std::size_t>(root_of(p, name))].name);
}

}  // namespace

std::string wrong_shares(const codegen::program &written, const std::string &query,
                         const std::string &key) {
  const codegen::program p = codegen::widened(written);
  const codegen::shares s = codegen::shard(p, query, key);
  for (const std::int64_t first : {5, 9, 1}) {
    const codegen::size_map sizes = small_sizes(p, first);
    const std::int64_t n = size_of(p, query, sizes), m = size_of(p, key, sizes);
    const codegen::arrays arguments = arguments_for(p, sizes, seed_or(3));
    const codegen::arrays expected = codegen::interpret(p, arguments, sizes);
    for (const int machines : {1, 2, 3, 8})
      for (const auto &[layout, name] :
           {std::pair{&contiguous, "contiguous"}, {&zigzag, "zigzag"}, {&unequal, "unequal"}}) {
        std::vector<tokens> all = layout(machines, n, m);
        if (root_of(p, query) == root_of(p, key))
          for (tokens &t : all) t.keys = t.queries;
        const codegen::arrays found = results_of_machines(p, s, query, key, all, arguments, sizes);
        for (const auto &[result, x] : expected)
          for (std::size_t k = 0; k < x.data.size(); ++k)
            if (!agree(x.data[k], found.at(result).data[k]))
              return fmt::format("{}: {} machines, {}, {} = {}, {} = {}: {}[{}] is {}, not {}",
                                 p.name, machines, name, query, n, key, m, result, k,
                                 found.at(result).data[k], x.data[k]);
      }
  }
  return "";
}

}  // namespace qkv::testing
