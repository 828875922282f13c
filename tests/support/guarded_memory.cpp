// SPDX-License-Identifier: BSL-1.0
#include "tests/support/guarded_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace qkv::testing {
namespace {

constexpr std::size_t most_kept = std::size_t{64} << 20;  // bytes of free blocks

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t whole_pages(std::size_t bytes) {
  if (bytes > ~std::size_t{0} / 2) throw std::bad_alloc();
  return std::max<std::size_t>(1, (bytes + page() - 1) / page()) * page();
}

void fill_pattern(unsigned char *at, guard where, std::size_t first, std::size_t bytes) {
  const std::array<unsigned char, 2> two = {filler(where, first), filler(where, first + 1)};
  for (std::size_t k = 0; k < std::min<std::size_t>(2, bytes); ++k) at[k] = two[k];
  for (std::size_t done = 2; done < bytes; done *= 2)
    std::memcpy(at + done, at, std::min(done, bytes - done));
}

}  // namespace

guarded_pages::guarded_pages(std::size_t bytes) : bytes_(whole_pages(bytes)) {
  void *p = mmap(nullptr, bytes_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<unsigned char *>(p) + page();
  if (mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) {
    munmap(p, bytes_ + 2 * page());
    throw std::bad_alloc();
  }
}

guarded_pages::guarded_pages(guarded_pages &&other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

guarded_pages &guarded_pages::operator=(guarded_pages &&other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

guarded_pages::~guarded_pages() {
  if (begin_) munmap(begin_ - page(), bytes_ + 2 * page());
}

guarded_block::guarded_block(guarded_pages &&pages, std::size_t bytes, guard where,
                             std::size_t alignment)
    : pages_(std::move(pages)),
      bytes_(bytes),
      offset_(where == guard::after ? (pages_.bytes() - bytes) / alignment * alignment : 0),
      where_(where),
      data_(pages_.begin() + offset_) {}

guarded_block::guarded_block(std::size_t bytes, guard where, std::size_t alignment)
    : guarded_block(guarded_pages(bytes), bytes, where, alignment) {
  fill_pattern(pages_.begin(), where_, 0, pages_.bytes());
}

// The pattern repeats every two bytes.
bool guarded_block::filled(std::size_t from, std::size_t to) const {
  const unsigned char *p = pages_.begin();
  for (std::size_t k = from; k < std::min(from + 2, to); ++k)
    if (p[k] != filler(where_, k)) return false;
  return to < from + 3 || std::memcmp(p + from, p + from + 2, to - from - 2) == 0;
}

bool guarded_block::surroundings_untouched() const {
  return filled(0, offset_) && filled(offset_ + bytes_, pages_.bytes());
}

bool guarded_block::untouched() const { return filled(0, pages_.bytes()); }

void guarded_block::fill() { fill_pattern(data_, where_, offset_, bytes_); }

void *guarded_memory::take(std::size_t bytes) noexcept try {
  const std::lock_guard hold(lock_);
  ++taken_;
  auto make = [&] {
    const auto found = free_.find(whole_pages(bytes));
    if (found == free_.end()) return guarded_block(bytes, where_, vector_alignment());
    guarded_block b(std::move(found->second), bytes, where_, vector_alignment());
    free_.erase(found);
    kept_ -= whole_pages(bytes);
    if (!b.untouched()) {
      note(fmt::format("a block of {} bytes was written to after it had been freed", bytes));
      return guarded_block(bytes, where_, vector_alignment());
    }
    return b;
  };
  guarded_block b = make();
  void *memory = b.data();
  used_.emplace(memory, std::move(b));
  return memory;
} catch (const std::bad_alloc &) {
  return nullptr;
}

std::size_t guarded_memory::give_back(void *memory) noexcept {
  const std::lock_guard hold(lock_);
  const auto at = used_.find(memory);
  if (at == used_.end()) {
    note("memory was given back that had not been taken");
    return 0;
  }
  guarded_block &b = at->second;
  const std::size_t bytes = b.bytes();
  if (b.surroundings_untouched()) {
    b.fill();
    guarded_pages pages = std::move(b).release();
    if (kept_ + pages.bytes() <= most_kept) {
      kept_ += pages.bytes();
      free_.emplace(pages.bytes(), std::move(pages));
    }
  } else {
    note(fmt::format("something was written right {} a block of {} bytes",
                     where_ == guard::after ? "before or in the gap behind" : "behind", bytes));
  }
  used_.erase(at);
  return bytes;
}

void guarded_memory::note(std::string text) {
  if (damage_.empty()) damage_ = std::move(text);
}

std::string guarded_memory::damage() {
  const std::lock_guard hold(lock_);
  return std::exchange(damage_, "");
}

guarded_memory &guarded_memory_of(guard where) {
  static auto *const after = new guarded_memory(guard::after);  // never destroyed: threads may run
  static auto *const before = new guarded_memory(guard::before);
  return where == guard::after ? *after : *before;
}

workspace &guarded_workspace(guard where) {
  const auto make = [](guard g) {
    detail::memory_source *const before = detail::set_memory_source(&guarded_memory_of(g));
    auto *const w = new workspace;
    detail::set_memory_source(before);
    return w;
  };
  static workspace *const after = make(guard::after), *const before = make(guard::before);
  return where == guard::after ? *after : *before;
}

namespace {

std::string_view asked_for() {
  static const std::string_view asked = [] {
    const char *text = std::getenv("QKV_GUARD");
    const std::string_view s = text ? text : "";
    if (s == "" || s == "end" || s == "begin" || s == "swapped") return s;
    fmt::print(stderr, "QKV_GUARD is {}; it may be end, begin or swapped\n", s);
    std::exit(2);
  }();
  return asked;
}

}  // namespace

guard guard_or(guard preferred) {
  const std::string_view asked = asked_for();
  if (asked == "end") return guard::after;
  if (asked == "begin") return guard::before;
  if (asked == "swapped") return preferred == guard::after ? guard::before : guard::after;
  return preferred;
}

bool guards_everything() { return asked_for() == "end" || asked_for() == "begin"; }

std::size_t vector_alignment() {
#if defined(__x86_64__)
  static const std::size_t bytes = __builtin_cpu_supports("avx512f") ? 64 : 32;
  return bytes;
#else
  return 64;
#endif
}

}  // namespace qkv::testing
