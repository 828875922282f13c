// SPDX-License-Identifier: BSL-1.0
#pragma once
// Memory whose end (or beginning) lies at an inaccessible page, and whose surroundings up to the
// next page are checked for writes.
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <qkv/workspace.hpp>
#include <string>

#include "runtime/memory/memory_source.hpp"

namespace qkv::testing {

enum class guard { after, before };  // the side of the inaccessible page

// The initial contents of memory: with `after`, NaN as any float and a large index; with `before`,
// large numbers, which a maximum does not drop.
constexpr unsigned char filler(guard where, std::size_t offset) {
  if (where == guard::before) return 0x7f;
  return offset % 2 ? 0x7f : 0xf4;
}

// Whole pages between two inaccessible ones.
class guarded_pages {
 public:
  guarded_pages() = default;
  explicit guarded_pages(std::size_t bytes);  // throws std::bad_alloc
  guarded_pages(guarded_pages &&) noexcept;
  guarded_pages &operator=(guarded_pages &&) noexcept;
  ~guarded_pages();

  unsigned char *begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  unsigned char *begin_ = nullptr;
  std::size_t bytes_ = 0;
};

// A block at the end or the beginning of such pages, as near as its `alignment` permits.
class guarded_block {
 public:
  guarded_block(std::size_t bytes, guard, std::size_t alignment);
  // In pages that are already filled, of a block that was freed.
  guarded_block(guarded_pages &&, std::size_t bytes, guard, std::size_t alignment);

  unsigned char *data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool surroundings_untouched() const;
  bool untouched() const;  // neither the block nor its surroundings
  void fill();             // only the block
  unsigned char pattern(std::size_t k) const { return filler(where_, offset_ + k); }
  guarded_pages release() && { return std::move(pages_); }

 private:
  bool filled(std::size_t from, std::size_t to) const;

  guarded_pages pages_;
  std::size_t bytes_, offset_;
  guard where_;
  unsigned char *data_;
};

// Serves everything that compiled code and the runtime allocate with such blocks. Freed blocks are
// filled again and reused later; writes to them in between are detected.
class guarded_memory final : public detail::memory_source {
 public:
  explicit guarded_memory(guard where) : where_(where) {}

  void *take(std::size_t bytes) noexcept override;
  std::size_t give_back(void *memory) noexcept override;

  // Describes the writes outside of blocks since the last call; empty if there were none.
  std::string damage();
  std::size_t blocks_taken() const { return taken_; }

 private:
  void note(std::string);

  const guard where_;
  std::mutex lock_;
  std::map<void *, guarded_block> used_;
  std::multimap<std::size_t, guarded_pages> free_;  // by size; filled
  std::size_t kept_ = 0;                            // bytes of `free_`
  std::string damage_;
  std::atomic<std::size_t> taken_ = 0;
};

// One for the whole process, and a workspace that takes all its memory from it.
guarded_memory &guarded_memory_of(guard);
workspace &guarded_workspace(guard);

// The guarded end that the environment chooses: QKV_GUARD=end or begin; without it, the end that a
// test prefers; "swapped": the other end. Any other value ends the process.
guard guard_or(guard preferred);
bool guards_everything();  // for end or begin, every workspace of the process is guarded

// The alignment that compiled code relies on: that of this machine's vectors.
std::size_t vector_alignment();

}  // namespace qkv::testing
