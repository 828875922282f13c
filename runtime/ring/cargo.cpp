// SPDX-License-Identifier: BSL-1.0
#include "ring/cargo.hpp"

#include "memory/dense.hpp"
#include "ring/message.hpp"

namespace qkv::ring {

void cargo::add(const std::string &name, const qkv_tensor &like, int key_axis) {
  items_.push_back({name, like, key_axis});
}

template <class Visit>
std::size_t cargo::walk(std::span<const positions> keys, const Visit &visit) const {
  std::size_t at = 0;
  for (std::size_t r = 0; r < keys.size(); ++r)
    for (const item &i : items_) {
      qkv_tensor t = i.like;
      t.extent[i.key_axis] = keys[r].n;
      visit(r, i.name, t, at);
      at += padded(detail::dense_bytes(t));
    }
  return at;
}

std::size_t cargo::bytes(std::span<const positions> keys) const {
  return walk(keys, [](std::size_t, const std::string &, const qkv_tensor &, std::size_t) {});
}

std::vector<tensors_by_name> cargo::placed(std::span<const positions> keys,
                                           std::byte *memory) const {
  std::vector<tensors_by_name> all(keys.size());
  walk(keys, [&](std::size_t r, const std::string &name, const qkv_tensor &t, std::size_t at) {
    all[r][name] = detail::dense(t, memory ? memory + at : nullptr);
  });
  return all;
}

}  // namespace qkv::ring
