// SPDX-License-Identifier: BSL-1.0
#pragma once
// A call on one machine: its tensors by name, and the arguments of its parts.
#include <deque>
#include <map>
#include <optional>
#include <qkv/ring.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "ring/check.hpp"
#include "ring/local_tensor.hpp"
#include "ring/polling_executor.hpp"

namespace qkv::ring {

// Some queries of a machine: where they are among all tokens and among its own.
struct some_queries {
  positions of_all;
  std::int64_t own;
};

class machine {
 public:
  machine(const qkv_kernel &, transport &, const layout &, const settings &);

  const qkv_kernel &k;
  transport &link;
  const layout &where;
  const settings &how;
  checked_call checked;
  std::map<std::string, local_tensor, std::less<>> tensors;

  const parts &of() const { return checked.of; }
  int rank() const { return link.rank(); }
  int size() const { return link.size(); }
  workspace &memory() const {
    return how.call.workspace ? *how.call.workspace : default_workspace();
  }
  // Calls a part; messages go on meanwhile.
  status run(const qkv_kernel &part, std::span<const qkv_tensor>);
  // Waits of a call have one deadline together.
  status finish();
  status agree(const status &own);
  // An exception is a status of this machine: the others hear of it.
  template <class F>
  status guarded(const F &f) const {
    try {
      if constexpr (std::is_void_v<decltype(f())>)
        return f(), status();
      else
        return f();
    } catch (const std::bad_alloc &) {
      return no_memory();
    }
  }
  status no_memory() const;

  // The tensor of an argument of a part, for so many queries and keys. Throws std::bad_alloc.
  local_tensor made(const qkv_kernel &part, const qkv_argument &, std::int64_t queries,
                    std::int64_t keys) const;
  std::vector<std::int64_t> extents(const qkv_kernel &part, const qkv_argument &,
                                    std::int64_t queries, std::int64_t keys) const;
  // Of an axis of the kernel; -1 where no argument decides it.
  std::int64_t size_of(std::string_view axis) const;
  // True if no argument of the kernel decides one of its extents.
  bool is_unknown(const qkv_kernel &part, const qkv_argument &) const;

  // first_ and whole_ of an axis: these queries, these keys, all positions of other axes.
  using position_memory = std::deque<std::int32_t>;
  std::optional<qkv_tensor> position(std::string_view name, const positions &queries,
                                     const positions &keys, position_memory &) const;
  static qkv_tensor scalar(std::int64_t, position_memory &);

  // The part of a tensor of this machine that belongs to its run r.
  qkv_tensor of_run(const local_tensor &, std::size_t r) const;
  qkv_tensor of_queries(const local_tensor &, const some_queries &) const;
  // Of queries and all keys, or of queries alone.
  qkv_tensor of_pairs(const local_tensor &, const some_queries &, const positions &keys) const;
  // The runs of this machine that have queries.
  std::vector<some_queries> queries() const;

 private:
  template <class Wait>
  status within_deadline(const Wait &);

  polling_executor threads_;
  options options_;
  transport::seconds waited_{0};
};

std::int64_t offset(std::span<const positions> runs, std::size_t r);

}  // namespace qkv::ring
