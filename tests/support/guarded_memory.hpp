#pragma once
// Memory whose end (or beginning) lies at a page that nobody may touch, and whose surroundings up to the next page are
// checked for writes.
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <qkv/workspace.hpp>
#include <string>

#include "runtime/memory_source.hpp"

namespace qkv::testing {

enum class guard { after, before };  // which end lies at the page

// What memory holds before anyone writes: behind `after` NaN as any float and a large index; behind `before` large
// numbers, which a maximum does not drop.
constexpr unsigned char filler(guard where, std::size_t offset) {
  if (where == guard::before) return 0x7f;
  return offset % 2 ? 0x7f : 0xf4;
}

// Whole pages between two that nobody may touch.
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

// A block in such pages, at their end or their beginning, as near as `alignment` of its first byte permits.
class guarded_block {
 public:
  guarded_block(std::size_t bytes, guard, std::size_t alignment);
  // In pages that are filled already: those of a block that was freed.
  guarded_block(guarded_pages &&, std::size_t bytes, guard, std::size_t alignment);

  unsigned char *data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool surroundings_untouched() const;
  bool untouched() const;  // the block and its surroundings
  void fill();             // the block alone
  unsigned char pattern(std::size_t k) const { return filler(where_, offset_ + k); }
  guarded_pages release() && { return std::move(pages_); }

 private:
  bool filled(std::size_t from, std::size_t to) const;

  guarded_pages pages_;
  std::size_t bytes_, offset_;
  guard where_;
  unsigned char *data_;
};

// All that compiled code and the runtime allocate, in such blocks. Freed blocks are filled again and used again later;
// what was written to them in between is found.
class guarded_memory final : public detail::memory_source {
 public:
  explicit guarded_memory(guard where) : where_(where) {}

  void *take(std::size_t bytes) noexcept override;
  std::size_t give_back(void *memory) noexcept override;

  // What was written outside of blocks since the last call, in words; empty when nothing was.
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

// One for the whole process, and a workspace that takes everything from it.
guarded_memory &guarded_memory_of(guard);
workspace &guarded_workspace(guard);

// Which end the environment asks to guard: QKV_GUARD=end or begin; without it, what a test prefers; "swapped": the other
// end than that. Anything else ends the process.
guard guard_or(guard preferred);
bool guards_everything();  // end or begin: every workspace of the process is guarded

// The alignment that compiled code relies on: that of the vectors of this machine.
std::size_t vector_alignment();

}  // namespace qkv::testing
