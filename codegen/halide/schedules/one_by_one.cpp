// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/one_by_one.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/halide/lower/state_layout.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

namespace {

constexpr std::int64_t most_statistics = 8;

// The second dimension of the steps: Halide gives a new name to one that does not begin at 0.
bool is_over_statistics(const hi::For &loop) {
  return hi::ends_with(loop.name, "." + merged_lanes + "$y") && hi::is_const_zero(loop.min);
}

}  // namespace

hi::Stmt statistics_one_by_one::visit(const hi::For *op) {
  const auto n = hi::as_const_int(op->extent);
  if (!is_over_statistics(*op) || !n || *n > most_statistics) return IRMutator::visit(op);
  std::vector<hi::Stmt> all;
  for (std::int64_t k = 0; k < *n; ++k)
    all.push_back(hi::simplify(hi::substitute(op->name, static_cast<int>(k), op->body)));
  return hi::Block::make(all);
}

}  // namespace qkv::codegen
