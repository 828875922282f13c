// SPDX-License-Identifier: BSL-1.0
#include "ring/work.hpp"

#include <algorithm>
#include <qkv/core/dtype.hpp>
#include <vector>

#include "ring/independent_axis.hpp"

namespace qkv::ring {
namespace {

double size_in(const qkv_kernel &part, std::int32_t axis, const size_of_axis &size) {
  const qkv_axis &a = part.axes[axis];
  return static_cast<double>(a.size >= 0 ? a.size : size(a.name));
}

double elements(const qkv_kernel &part, const qkv_argument &a, const size_of_axis &size) {
  double n = 1;
  for (int d = 0; d < a.rank; ++d) n *= size_in(part, a.axes[d], size);
  return n;
}

// Each number of a key meets the query of every pair, once for each position of the axes that all
// sums for queries have: query heads that share keys.
double flops_with(const qkv_kernel &hop, const qkv_argument &keys, const parts &of,
                  const size_of_axis &size) {
  double n = 2 * elements(hop, keys, size);
  for (int a = 0; a < hop.n_axes; ++a) {
    const std::string_view name = hop.axes[a].name;
    if (name == of.key || has_axis(hop, keys, name)) continue;
    const bool all_sums_have =
        std::all_of(hop.arguments, hop.arguments + hop.n_arguments, [&](const qkv_argument &x) {
          const bool is_state =
              x.role == QKV_OUT && has_axis(hop, x, of.query) && !has_axis(hop, x, of.key);
          return !is_state || has_axis(hop, x, name);
        });
    if (name == of.query || all_sums_have) n *= size_in(hop, a, size);
  }
  return n;
}

}  // namespace

void visit_tensors(
    const parts &of, std::size_t round,
    const std::function<void(moved, const qkv_kernel &, const qkv_argument &)> &visit) {
  const qkv_kernel *own = of.own[round];
  const bool gives_results = round + 1 == of.own.size();  // of the kernel: the caller's memory
  for (int i = 0; own && i < own->n_arguments; ++i) {
    const qkv_argument &a = own->arguments[i];
    if (is_total(a))
      visit(moved::totals, *own, a);
    else if (a.role == QKV_OUT && !gives_results)
      visit(moved::kept, *own, a);
  }
  const qkv_kernel *hop = round < of.hops.size() ? of.hops[round] : nullptr;
  for (int i = 0; hop && i < hop->n_arguments; ++i) {
    const qkv_argument &a = hop->arguments[i];
    const bool along_queries = has_axis(*hop, a, of.query), along_keys = has_axis(*hop, a, of.key);
    if (a.role == QKV_OUT)
      visit(along_queries && along_keys ? moved::pairs
            : along_queries             ? moved::states
            : along_keys                ? moved::key_sums
                                        : moved::totals,
            *hop, a);
    else if ((along_queries || along_keys) && name_after("before_", a.name).empty())
      visit(along_queries ? moved::queries : moved::keys, *hop, a);
  }
}

round_work work_of(const parts &of, std::size_t round, int machines, const size_of_axis &size) {
  round_work w;
  independent_axis heads;
  if (round < of.hops.size() && of.hops[round])
    heads = independent_axis_of(of, *of.hops[round], machines, size);
  w.heads = static_cast<double>(heads.size);
  visit_tensors(of, round, [&](moved how, const qkv_kernel &part, const qkv_argument &a) {
    const double bytes =
        elements(part, a, size) * static_cast<double>(size_of(static_cast<dtype>(a.dtype)));
    const bool has_heads = heads.is_of(part, a);
    switch (how) {
      case moved::keys:
        w.pair_flops += flops_with(part, a, of, size);
        w.key_bytes += bytes;
        [[fallthrough]];
      case moved::queries:
        (has_heads ? w.divided_bytes : w.copied_bytes) += bytes;
        break;
      case moved::key_sums:
        w.sum_bytes += bytes;
        break;
      case moved::states:
        w.state_bytes += bytes;
        break;
      case moved::pairs:
        w.pair_bytes += bytes;
        break;
      case moved::totals:
        w.total_bytes += bytes;
        break;
      case moved::kept:
        w.kept_bytes += bytes;
        break;
    }
  });
  return w;
}

}  // namespace qkv::ring
