// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors that travel: run after run of a machine's keys, each tensor of a run contiguous.
#include <qkv/kernel.h>

#include <cstddef>
#include <map>
#include <qkv/ring_layout.hpp>
#include <string>
#include <vector>

namespace qkv::ring {

using tensors_by_name = std::map<std::string, qkv_tensor, std::less<>>;

class cargo {
 public:
  // `like`: any tensor of its type and extents; `key_axis`: the place of the keys among its axes.
  void add(const std::string &name, const qkv_tensor &like, int key_axis);

  bool empty() const { return items_.empty(); }
  std::size_t bytes(std::span<const positions> keys) const;
  // By run; null memory: extents alone.
  std::vector<tensors_by_name> placed(std::span<const positions> keys, std::byte *memory) const;

 private:
  struct item {
    std::string name;
    qkv_tensor like;
    int key_axis;
  };
  template <class Visit>
  std::size_t walk(std::span<const positions> keys, const Visit &) const;

  std::vector<item> items_;
};

}  // namespace qkv::ring
