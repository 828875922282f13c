// SPDX-License-Identifier: BSL-1.0
#include "failing.hpp"

#include <pthread.h>
#include <qkv/workspace.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "process/threads.hpp"

// The linker redirects every call of these functions to here (--wrap), except calls inside shared
// libraries, which get their memory from operator new.
extern "C" {
void *__real_malloc(std::size_t);
void *__real_calloc(std::size_t, std::size_t);
void *__real_realloc(void *, std::size_t);
void *__real_aligned_alloc(std::size_t, std::size_t);
int __real_posix_memalign(void **, std::size_t, std::size_t);
void __real_free(void *);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
}

namespace failing {
namespace {

constinit std::atomic<long> left{0};  // requests until one fails; 0: none fails
constinit std::atomic<bool> for_all{false}, failed{false};

bool refused() {
  long n = left.load();
  while (n > 0) {
    if (n == 1 && for_all) break;
    if (left.compare_exchange_weak(n, n - 1)) break;
  }
  if (n != 1) return false;
  failed = true;
  return true;
}

// A set of block addresses, with open addressing.
class addresses {
 public:
  void add(void *p) {
    const std::lock_guard hold(lock_);
    at(nullptr, p) = p;
    ++n_;
  }
  void remove(void *p) {
    if (!p) return;
    const std::lock_guard hold(lock_);
    void **place = &at(p, p);
    if (*place != p) return;
    *place = gone();
    --n_;
    // Marks at the end of a search are not needed.
    if (place + 1 == &*places_.end() || place[1]) return;
    while (place >= places_.data() && *place == gone()) *place-- = nullptr;
  }
  long count() {
    const std::lock_guard hold(lock_);
    return n_;
  }

 private:
  void *gone() { return this; }
  // The place of p or, if it is absent, the end of its search; to insert p, the first free place.
  void *&at(void *wanted, void *p) {
    std::size_t i = reinterpret_cast<std::uintptr_t>(p) / 16 * 0x9e3779b97f4a7c15u >> 44;
    while (places_[i] && places_[i] != wanted && !(wanted == nullptr && places_[i] == gone()))
      i = (i + 1) % places_.size();
    return places_[i];
  }
  std::mutex lock_;
  long n_ = 0;
  std::array<void *, std::size_t{1} << 20> places_{};
};
constinit addresses all;

void *noted(void *p) {
  if (p) all.add(p);
  return p;
}

void *new_block(std::size_t bytes, std::size_t alignment = 16) {
  if (refused()) return nullptr;
  bytes = (bytes + alignment) / alignment * alignment;
  return noted(alignment <= 16 ? __real_malloc(bytes) : __real_aligned_alloc(alignment, bytes));
}

void *new_or_throw(std::size_t bytes, std::size_t alignment = 16) {
  if (void *p = new_block(bytes, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

void from(long k, bool for_good) {
  failed = false;
  for_all = for_good;
  left = k;
}

bool stop() {
  left = 0;
  return failed;
}

long blocks() { return all.count(); }

namespace {

// The number of blocks after everything that is kept between calls was given back.
long blocks_at_rest() {
  qkv::detail::stop_threads();
  qkv::default_workspace().trim();
  return blocks();
}

std::string tried(const operation &o, long k, bool for_good, bool &touched) {
  const long before = blocks_at_rest();
  {
    qkv::status s;
    try {
      from(k, for_good);
      s = o.run();
      touched = stop();
    } catch (const std::exception &e) {
      stop();
      return std::string("throws ") + e.what();
    }
    if (s.code() != o.untouched) {
      if (!touched || s.code() != qkv::status_code::out_of_memory)
        return std::string("answers: ") + s.text();
      if (!o.intact()) return "changed what it should not";
    }
  }
  const long lost = blocks_at_rest() - before;
  return lost > 0 ? "loses " + std::to_string(lost) + " blocks" : "";
}

}  // namespace

std::string survived(const operation &o) {
  return in_child([&](child_report &r) {
    bool touched = true;
    // Memory that a first call sets up for the whole process is not a leak.
    (void)o.run();
    for (const bool for_good : {false, true}) {
      r.for_good = for_good;
      for (r.k = 1, touched = true; touched; ++r.k) {
        std::string wrong = tried(o, r.k, for_good, touched);
        if (wrong.empty()) {
          bool again = false;
          wrong = tried(o, 0, false, again);
          if (!wrong.empty()) wrong = "the next time: " + wrong;
        }
        if (!wrong.empty()) {
          r.say(wrong);
          return;
        }
      }
    }
    r.k = 0;
  });
}

}  // namespace failing

extern "C" {
void *__wrap_malloc(std::size_t n) {
  return failing::refused() ? nullptr : failing::noted(__real_malloc(n));
}
void *__wrap_calloc(std::size_t n, std::size_t of) {
  return failing::refused() ? nullptr : failing::noted(__real_calloc(n, of));
}
void *__wrap_realloc(void *p, std::size_t n) {
  if (failing::refused()) return nullptr;
  failing::all.remove(p);
  return failing::noted(__real_realloc(p, n));
}
void *__wrap_aligned_alloc(std::size_t alignment, std::size_t n) {
  return failing::refused() ? nullptr : failing::noted(__real_aligned_alloc(alignment, n));
}
int __wrap_posix_memalign(void **p, std::size_t alignment, std::size_t n) {
  if (failing::refused()) return ENOMEM;
  const int code = __real_posix_memalign(p, alignment, n);
  if (code == 0) failing::noted(*p);
  return code;
}
void __wrap_free(void *p) {
  failing::all.remove(p);
  __real_free(p);
}
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x) {
  return failing::refused() ? EAGAIN : __real_pthread_create(t, a, f, x);
}
}

void *operator new(std::size_t n) { return failing::new_or_throw(n); }
void *operator new[](std::size_t n) { return failing::new_or_throw(n); }
void *operator new(std::size_t n, std::align_val_t a) {
  return failing::new_or_throw(n, static_cast<std::size_t>(a));
}
void *operator new[](std::size_t n, std::align_val_t a) {
  return failing::new_or_throw(n, static_cast<std::size_t>(a));
}
void *operator new(std::size_t n, const std::nothrow_t &) noexcept { return failing::new_block(n); }
void *operator new[](std::size_t n, const std::nothrow_t &) noexcept {
  return failing::new_block(n);
}
void operator delete(void *p) noexcept { __wrap_free(p); }
void operator delete[](void *p) noexcept { __wrap_free(p); }
void operator delete(void *p, std::size_t) noexcept { __wrap_free(p); }
void operator delete[](void *p, std::size_t) noexcept { __wrap_free(p); }
void operator delete(void *p, std::align_val_t) noexcept { __wrap_free(p); }
void operator delete[](void *p, std::align_val_t) noexcept { __wrap_free(p); }
void operator delete(void *p, std::size_t, std::align_val_t) noexcept { __wrap_free(p); }
void operator delete[](void *p, std::size_t, std::align_val_t) noexcept { __wrap_free(p); }
