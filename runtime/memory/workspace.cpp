// SPDX-License-Identifier: BSL-1.0
#include <qkv/memory.hpp>
#include <qkv/workspace.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

#include "memory/memory_source.hpp"
#include "process/fork.hpp"

namespace qkv {
namespace {

constexpr std::size_t line = 64;

}  // namespace

namespace detail {

// Stands before every block and every gap; `bytes` counts itself, the memory handed out and a line
// after it. A block may be larger than what was asked for.
struct alignas(line) workspace_block {
  std::size_t bytes;
  workspace_block *next;
  std::size_t asked = 0;
};

}  // namespace detail

namespace {

using block = detail::workspace_block;
static_assert(sizeof(block) == line,
              "a block's head is one line, so that what follows stays aligned");

// 0 where the sum does not fit.
std::size_t whole(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - 4 * line) return 0;
  return (bytes + line - 1) / line * line + 2 * line;
}

// Memory is kept in blocks of few sizes, eight for each power of two: one list has blocks of one
// size.
constexpr std::size_t size_classes = std::size_t{8} * std::numeric_limits<std::size_t>::digits;

std::size_t power_of(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(bytes)) - 1;
}
std::size_t size_class(std::size_t bytes) {
  const std::size_t power = power_of(bytes);
  return 8 * power + (bytes >> (power - 3)) % 8;
}
std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = std::max(line, std::size_t{1} << (power_of(bytes) - 3));
  const std::size_t up = (bytes + unit - 1) / unit * unit;
  return std::max(up, bytes);  // the sum does not fit where memory does not either
}

constinit std::atomic<detail::memory_source *> source_of_all = nullptr;

}  // namespace

detail::memory_source *detail::set_memory_source(memory_source *source) noexcept {
  return source_of_all.exchange(source);
}

struct detail::workspace_state {
  workspace_state *next_of_all = nullptr, **to_this = nullptr;
  std::mutex lock;
  bool fixed = false;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t held = 0, used = 0, peak = 0;
  detail::memory_source *source = nullptr;
  bool has_source = false;  // the default workspace chooses its source at its first use
  block *gaps = nullptr;    // of fixed memory, by address, to join neighbours
  // Of memory that grows: kept blocks by size.
  block *kept[size_classes] = {};

  void choose_source() {
    if (!has_source) source = source_of_all;
    has_source = true;
  }

  void count(std::size_t bytes) {
    used += bytes;
    peak = std::max(peak, used);
  }

  // The first gap that is large enough, split.
  block *take_fixed(std::size_t need) {
    for (block **at = &gaps; *at; at = &(*at)->next) {
      block *b = *at;
      if (b->bytes < need) continue;
      if (b->bytes - need >= 4 * line) {
        *at = new (reinterpret_cast<char *>(b) + need) block{b->bytes - need, b->next};
        b->bytes = need;
      } else {
        *at = b->next;
      }
      return b;
    }
    return nullptr;
  }

  void give_back_fixed(block *b) {
    block **at = &gaps, *before = nullptr;
    while (*at && *at < b) {
      before = *at;
      at = &(*at)->next;
    }
    b->next = *at;
    *at = b;
    for (block *low : {b, before}) {  // join b with the gap above, then the gap below with b
      if (!low || !low->next ||
          reinterpret_cast<char *>(low) + low->bytes != reinterpret_cast<char *>(low->next))
        continue;
      low->bytes += low->next->bytes;
      low->next = low->next->next;
    }
  }

  void keep(block *b) {
    block *&first = kept[size_class(b->bytes)];
    b->next = first;
    first = b;
  }

  // A kept block that wastes less than half of itself; else new memory.
  block *take_growing(std::size_t need) {
    const std::size_t size = rounded(need), own = size_class(size);
    for (std::size_t list = own; list < std::min(own + 8, size_classes); ++list)
      if (block *b = kept[list]; b && b->bytes >= need) {
        kept[list] = b->next;
        return b;
      }
    block *b = take_new(size);
    return b ? b : take_new(need);
  }

  block *take_new(std::size_t bytes) {
    if (bytes > most - std::min(held, most)) release();
    if (bytes > most - std::min(held, most)) return nullptr;
    void *memory = new_memory(bytes);
    if (!memory) {
      release();
      memory = new_memory(bytes);
      if (!memory) return nullptr;
    }
    held += bytes;
    return new (memory) block{bytes, nullptr};
  }

  // Directly from the source: nothing is kept or placed around a block.
  void *take_from_source(std::size_t bytes, std::size_t need) {
    if (need > most - std::min(used, most)) return nullptr;
    return source->take(bytes);
  }

  void release() {
    for (block *&list : kept)
      while (block *b = list) {
        list = b->next;
        held -= b->bytes;
        std::free(b);
      }
  }
};

namespace {

using state = detail::workspace_state;

// All workspaces, so that fork() can wait until nobody is inside one.
constinit std::mutex lock_of_all;
constinit state *all = nullptr;
constinit state default_state;

state *listed(state *s) noexcept {
  if (!s) return s;
  detail::guard_forks();
  const std::lock_guard hold(lock_of_all);
  s->next_of_all = all;
  s->to_this = &all;
  if (all) all->to_this = &s->next_of_all;
  all = s;
  return s;
}

void unlist(state *s) noexcept {
  const std::lock_guard hold(lock_of_all);
  *s->to_this = s->next_of_all;
  if (s->next_of_all) s->next_of_all->to_this = s->to_this;
}

}  // namespace

namespace detail {

void lock_workspaces() noexcept {
  lock_of_all.lock();
  default_state.lock.lock();
  for (state *s = all; s; s = s->next_of_all) s->lock.lock();
}

void unlock_workspaces() noexcept {
  for (state *s = all; s; s = s->next_of_all) s->lock.unlock();
  default_state.lock.unlock();
  lock_of_all.unlock();
}

}  // namespace detail

workspace::workspace() noexcept : state_(listed(new(std::nothrow) state)) {
  if (state_) state_->choose_source();
}

workspace::workspace(std::size_t most) noexcept : workspace() {
  if (state_) state_->most = most;
}

workspace::workspace(void *memory, std::size_t bytes) noexcept : workspace() {
  if (!state_) return;
  state_->fixed = true;
  state_->source = nullptr;
  const std::size_t skip = -reinterpret_cast<std::uintptr_t>(memory) % line;
  if (!memory || bytes < skip + 3 * line) return;
  state_->gaps =
      new (static_cast<char *>(memory) + skip) block{(bytes - skip) / line * line, nullptr};
}

workspace::~workspace() {
  if (!state_) return;
  trim();
  unlist(state_);
  delete state_;
}

void *workspace::take(std::size_t bytes) noexcept {
  const std::size_t need = whole(bytes);
  if (!state_ || need == 0) return nullptr;
  state &s = *state_;
  const std::lock_guard hold(s.lock);
  s.choose_source();
  if (s.source) {
    void *memory = s.take_from_source(bytes, need);
    if (memory) s.count(need);
    return memory;
  }
  block *b = s.fixed ? s.take_fixed(need) : s.take_growing(need);
  if (!b) return nullptr;
  b->asked = s.fixed ? b->bytes : need;
  s.count(b->asked);
  return b + 1;
}

void workspace::give_back(void *memory) noexcept {
  if (!memory || !state_) return;
  state &s = *state_;
  const std::lock_guard hold(s.lock);
  if (s.source) {
    s.used -= whole(s.source->give_back(memory));
    return;
  }
  block *b = static_cast<block *>(memory) - 1;
  s.used -= b->asked;
  s.fixed ? s.give_back_fixed(b) : s.keep(b);
}

std::size_t workspace::in_use() const noexcept {
  if (!state_) return 0;
  const std::lock_guard hold(state_->lock);
  return state_->used;
}

std::size_t workspace::peak() const noexcept {
  if (!state_) return 0;
  const std::lock_guard hold(state_->lock);
  return state_->peak;
}

void workspace::reset_peak() noexcept {
  if (!state_) return;
  const std::lock_guard hold(state_->lock);
  state_->peak = state_->used;
}

void workspace::trim() noexcept {
  if (!state_ || state_->fixed) return;
  const std::lock_guard hold(state_->lock);
  state_->release();
}

struct detail::default_memory {
  union {
    workspace it;
  };
  constexpr default_memory() : it(default_state) {}
  ~default_memory() {}
};

namespace {

// Never destroyed: a call may still run while the process exits. Not local to default_workspace():
// without optimization, a first use while this code is unloaded would register its empty destructor
// for the exit of the process.
constinit detail::default_memory memory_of_default;

// Runs when the library that contains this code is unloaded, and at exit.
__attribute__((destructor(101))) void give_back_memory() { memory_of_default.it.trim(); }

}  // namespace

workspace &default_workspace() { return memory_of_default.it; }

}  // namespace qkv
