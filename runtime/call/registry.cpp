// SPDX-License-Identifier: BSL-1.0
#include <qkv/registry.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "call/libraries.hpp"
#include "process/fork.hpp"

namespace qkv {
namespace detail {
namespace {

// The list is linked through the libraries themselves: it needs no memory and exists before all
// static initialisers.
struct registry {
  std::mutex lock;
  qkv_library *first = nullptr;
  std::uint64_t given = 0;  // number of registrations so far
  std::atomic<std::uint64_t> changes{1};

  qkv_library **place_of(const qkv_library *l) {
    qkv_library **at = &first;
    while (*at && *at != l) at = &(*at)->next;
    return at;
  }
};
constinit registry the_registry;

}  // namespace

void lock_registry() noexcept { the_registry.lock.lock(); }
void unlock_registry() noexcept { the_registry.lock.unlock(); }

std::uint64_t registry_changes() noexcept {
  return the_registry.changes.load(std::memory_order_acquire);
}

registered_kernels::registered_kernels() : hold_(the_registry.lock), at_(the_registry.first) {}

bool registered_kernels::next() {
  for (++place_; at_; at_ = at_->next, place_ = 0) {
    if (place_ < at_->n) return true;
  }
  return false;
}

std::uint64_t registration_of(const qkv_kernel *k) noexcept {
  for (registered_kernels all; all.next();) {
    if (&all.kernel() == k) return all.library().number;
  }
  return 0;
}

bool still_registered(const qkv_kernel *k, std::uint64_t number) noexcept {
  for (registered_kernels all; all.next();) {
    if (&all.kernel() == k && all.library().number == number) return true;
  }
  return false;
}

}  // namespace detail

std::vector<const qkv_kernel *> kernels() {
  std::vector<const qkv_kernel *> found;
  for (detail::registered_kernels all; all.next();) found.push_back(&all.kernel());
  return found;
}

std::vector<const qkv_kernel *> kernels(std::string_view name) {
  std::vector<const qkv_kernel *> found = kernels();
  std::erase_if(found, [&](const qkv_kernel *k) { return name != k->name; });
  return found;
}

}  // namespace qkv

extern "C" void qkv_register_library(qkv_library *l) {
  if (!l || !l->kernels) return;
  qkv::detail::guard_forks();
  auto &r = qkv::detail::the_registry;
  const std::lock_guard hold(r.lock);
  qkv_library **at = r.place_of(l);
  if (*at) return;
  l->number = ++r.given;
  l->next = nullptr;
  *at = l;
  r.changes.fetch_add(1, std::memory_order_release);
}

extern "C" void qkv_unregister_library(qkv_library *l) {
  auto &r = qkv::detail::the_registry;
  const std::lock_guard hold(r.lock);
  qkv_library **at = r.place_of(l);
  if (!l || !*at) return;
  *at = l->next;
  r.changes.fetch_add(1, std::memory_order_release);
}
