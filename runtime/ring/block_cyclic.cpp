// SPDX-License-Identifier: BSL-1.0
#include <qkv/core/axis.hpp>
#include <qkv/ring_cache.hpp>

#include "ring/parts.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

// Of the first argument that has queries.
std::int64_t n_queries(const qkv_kernel &k, const parts &of, std::span<const qkv_tensor> all) {
  for (int i = 0; i < k.n_arguments && static_cast<std::size_t>(i) < all.size(); ++i)
    for (int d = 0; d < k.arguments[i].rank; ++d)
      if (k.axes[k.arguments[i].axes[d]].name == of.query)
        return std::max<std::int64_t>(all[static_cast<std::size_t>(i)].extent[d], 0);
  return 0;
}

}  // namespace

status run_block_cyclic(const qkv_kernel &k, transport &machines, std::int64_t keys,
                        std::int64_t block, std::span<const qkv_tensor> arguments,
                        const settings &how) noexcept try {
  parts of;
  std::int64_t queries = 0;
  if (parts::of(k, of)) queries = n_queries(k, of, arguments);
  // More keys than a call can have are refused; their blocks need not be listed for that.
  const layout where = keys > core::longest_axis
                           ? contiguous(machines.size(), queries, keys)
                           : block_cyclic(machines.size(), queries, keys, block);
  return run_parts(k, machines, where, arguments, how);
} catch (const std::bad_alloc &) {
  return detail::fail(status_code::out_of_memory, "{}: no memory for a layout", k.name);
}

}  // namespace qkv::ring
