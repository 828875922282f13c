// SPDX-License-Identifier: BSL-1.0
#include "devices/device_pool.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "devices/devices.hpp"
#include "process/fork.hpp"

namespace qkv {
namespace {

struct counts {
  std::atomic<std::size_t> in_use{0}, peak{0}, most{std::numeric_limits<std::size_t>::max()};
  std::atomic<bool> used{false};

  void raise_peak_to(std::size_t bytes) noexcept {
    std::size_t highest = peak;
    while (highest < bytes && !peak.compare_exchange_weak(highest, bytes)) {
    }
  }

  bool add(std::size_t bytes) noexcept {
    used = true;
    std::size_t now = in_use;
    do {
      const std::size_t limit = most;
      if (bytes > limit || now > limit - bytes) return false;
    } while (!in_use.compare_exchange_weak(now, now + bytes));
    raise_peak_to(now + bytes);
    return true;
  }
};

counts &counts_of(int number) noexcept {
  static constinit std::array<counts, detail::most_devices> all{};
  return all[static_cast<std::size_t>(number)];
}

counts &counts_of(const halide_device_interface_t *code) noexcept {
  const detail::device_kind *k = detail::kind_of(code);
  return counts_of(k ? k->number : QKV_HOST);
}

}  // namespace

device_pool &pool_of(device d) noexcept {
  static constinit auto all = []<int... N>(std::integer_sequence<int, N...>) {
    return std::array{device_pool(N)...};
  }(std::make_integer_sequence<int, detail::most_devices>());
  return all[detail::kind_of(d) ? static_cast<std::size_t>(d) : 0];
}

std::size_t device_pool::in_use() const noexcept { return counts_of(number_).in_use; }
std::size_t device_pool::peak() const noexcept { return counts_of(number_).peak; }
void device_pool::reset_peak() noexcept {
  counts &c = counts_of(number_);
  c.peak = 0;
  c.raise_peak_to(c.in_use);  // memory that another thread adds meanwhile counts, too
}
void device_pool::limit(std::size_t bytes) noexcept { counts_of(number_).most = bytes; }

void device_pool::trim() noexcept {
  const detail::device_kind *k = detail::kind_of(number_);
  if (!k || !k->trim || !counts_of(number_).used) return;
  options how{.on = static_cast<device>(number_)};
  if (detail::use_device("trim", how)) k->trim(how);
}

namespace detail {
namespace {

int take(void *user, halide_buffer_t &b, const halide_device_interface_t *code) {
  if (b.device) return code->device_malloc(user, &b, code);
  counts &of_device = counts_of(code);
  if (!of_device.add(b.size_in_bytes())) {
    if (user_context *c = user_context::of(user)) c->no_memory = true;
    return halide_error_code_device_malloc_failed;
  }
  const int failure = code->device_malloc(user, &b, code);
  if (failure != 0) of_device.in_use -= b.size_in_bytes();
  return failure;
}

}  // namespace

int take_device_memory(user_context &c, halide_buffer_t &b, device d) {
  return take(&c, b, kind_of(d)->code());
}

int give_back_device_memory(void *user, halide_buffer_t &b) {
  if (!b.device) return 0;
  counts &of_device = counts_of(b.device_interface);
  const int code = b.device_interface->device_free(user, &b);
  of_device.in_use -= b.size_in_bytes();
  return code;
}

}  // namespace detail
}  // namespace qkv

// Compiled code calls these by name (codegen/emit/device_memory.cpp).
extern "C" {

int qkv_device_malloc(void *user, halide_buffer_t *b, const halide_device_interface_t *code) {
  return qkv::detail::take(user, *b, code);
}

int qkv_device_free(void *user, halide_buffer_t *b) {
  return qkv::detail::give_back_device_memory(user, *b);
}

void qkv_device_free_as_destructor(void *user, void *b) {
  (void)qkv_device_free(user, static_cast<halide_buffer_t *>(b));
}
}
