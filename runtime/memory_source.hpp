#pragma once
// Where workspaces get their memory instead of from the system; private to the runtime and its tests.
#include <cstddef>

namespace qkv::detail {

// Called by several threads at once. What a workspace takes from a source goes back to it as soon as it is free.
class memory_source {
 public:
  virtual void *take(
      std::size_t bytes) noexcept = 0;  // aligned for this machine's vectors; nullptr: no more
  virtual std::size_t give_back(void *memory) noexcept = 0;  // how many bytes take() was asked for

 protected:
  ~memory_source() = default;
};

// The source of the growing workspaces that are made from now on, the default one among them; nullptr: the system.
// Returns what was set before.
memory_source *set_memory_source(memory_source *) noexcept;

}  // namespace qkv::detail
