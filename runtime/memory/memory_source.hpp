// SPDX-License-Identifier: BSL-1.0
#pragma once
// Replaces the system as the source of workspaces' memory; private to the runtime and its tests.
#include <cstddef>

namespace qkv::detail {

// Called by several threads at once. A workspace gives memory back to its source as soon as it is
// free.
class memory_source {
 public:
  virtual void *take(
      std::size_t bytes) noexcept = 0;  // aligned for this machine's vectors; nullptr: none left
  virtual std::size_t give_back(void *memory) noexcept = 0;  // returns the size given to take()

 protected:
  ~memory_source() = default;
};

// Sets the source of growing workspaces that are created from now on, including the default one;
// nullptr: the system. Returns the previous source.
memory_source *set_memory_source(memory_source *) noexcept;

}  // namespace qkv::detail
