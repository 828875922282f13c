#include <qkv/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

namespace qkv {
namespace {

constexpr std::size_t line = 64;

// Stands before every block and every gap; `bytes` counts itself, the memory handed out and a line after it.
struct alignas(line) block {
  std::size_t bytes;
  block *next;
};
static_assert(sizeof(block) == line,
              "a block's head is one line, so that what follows stays aligned");

// 0 where the sum does not fit.
std::size_t whole(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - 4 * line) return 0;
  return (bytes + line - 1) / line * line + 2 * line;
}

}  // namespace

struct workspace::state {
  std::mutex lock;
  bool fixed = false;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t held = 0, used = 0, peak = 0;
  block *gaps = nullptr;  // fixed: by address, for joining neighbours; else in no order

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

  // The smallest kept block that fits without wasting more than half of it; else new memory.
  block *take_growing(std::size_t need) {
    block **best = nullptr;
    for (block **at = &gaps; *at; at = &(*at)->next) {
      const std::size_t size = (*at)->bytes;
      if (size >= need && size / 2 <= need && (!best || size < (*best)->bytes)) best = at;
    }
    if (best) {
      block *b = *best;
      *best = b->next;
      return b;
    }
    if (need > most - std::min(held, most)) release();
    if (need > most - std::min(held, most)) return nullptr;
    void *memory = std::aligned_alloc(line, need);
    if (!memory) {
      release();
      memory = std::aligned_alloc(line, need);
      if (!memory) return nullptr;
    }
    held += need;
    return new (memory) block{need, nullptr};
  }

  void release() {
    while (block *b = gaps) {
      gaps = b->next;
      held -= b->bytes;
      std::free(b);
    }
  }
};

workspace::workspace() : state_(std::make_unique<state>()) {}

workspace::workspace(std::size_t most) : workspace() { state_->most = most; }

workspace::workspace(void *memory, std::size_t bytes) noexcept : state_(new(std::nothrow) state) {
  if (!state_) return;
  state_->fixed = true;
  const std::size_t skip = -reinterpret_cast<std::uintptr_t>(memory) % line;
  if (!memory || bytes < skip + 3 * line) return;
  state_->gaps =
      new (static_cast<char *>(memory) + skip) block{(bytes - skip) / line * line, nullptr};
}

workspace::~workspace() { trim(); }

void *workspace::take(std::size_t bytes) noexcept {
  const std::size_t need = whole(bytes);
  if (!state_ || need == 0) return nullptr;
  state &s = *state_;
  const std::lock_guard hold(s.lock);
  block *b = s.fixed ? s.take_fixed(need) : s.take_growing(need);
  if (!b) return nullptr;
  s.used += b->bytes;
  s.peak = std::max(s.peak, s.used);
  return b + 1;
}

void workspace::give_back(void *memory) noexcept {
  if (!memory || !state_) return;
  state &s = *state_;
  const std::lock_guard hold(s.lock);
  block *b = static_cast<block *>(memory) - 1;
  s.used -= b->bytes;
  if (s.fixed) {
    s.give_back_fixed(b);
  } else {
    b->next = s.gaps;
    s.gaps = b;
  }
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

// Never destroyed: a call may still run while the process exits.
workspace &default_workspace() {
  static workspace *w = new workspace;
  return *w;
}

}  // namespace qkv
