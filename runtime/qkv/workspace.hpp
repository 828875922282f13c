// SPDX-License-Identifier: BSL-1.0
#pragma once
// The working memory of compiled code: it grows as needed, or is a block of the caller's.
#include <cstddef>

namespace qkv {
namespace detail {
struct workspace_state;
struct default_memory;
}  // namespace detail

// Blocks are kept after a call and used again by the next. One workspace may serve several calls at
// once.
class workspace {
 public:
  workspace() noexcept;                           // takes memory from the system and keeps it
  explicit workspace(std::size_t most) noexcept;  // the same, up to this many bytes
  workspace(void *memory,
            std::size_t bytes) noexcept;  // only this memory, which must outlive the workspace
  ~workspace();
  workspace(const workspace &) = delete;
  workspace &operator=(const workspace &) = delete;

  // Returns memory aligned to 64 bytes and readable 64 bytes before and after; nullptr if the limit
  // or the machine's memory is exhausted, or if the workspace itself could not be allocated.
  void *take(std::size_t bytes) noexcept;
  void give_back(void *) noexcept;

  std::size_t in_use()
      const noexcept;  // bytes taken and not given back, with what the bookkeeping needs
  std::size_t peak() const noexcept;  // the most that were in use at once since reset_peak()
  void reset_peak() noexcept;
  void trim() noexcept;  // gives unused memory back to the system

 private:
  friend struct detail::default_memory;
  explicit constexpr workspace(detail::workspace_state &s) noexcept : state_(&s) {}

  detail::workspace_state *state_;
};

// The workspace of calls whose options name none.
workspace &default_workspace();

}  // namespace qkv
