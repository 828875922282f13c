#include "devices/device_pool.hpp"

#include <array>
#include <atomic>
#include <limits>

#include "devices/driver.hpp"
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

counts &counts_of(device d) noexcept {
  static constinit std::array<counts, 3> all{};
  return all[static_cast<std::size_t>(d)];
}

counts &counts_of(const halide_device_interface_t *interface) noexcept {
  return counts_of(interface == detail::interface_of(device::opencl) ? device::opencl
                                                                     : device::cuda);
}

}  // namespace

device_pool &pool_of(device d) noexcept {
  static constinit device_pool host(device::host), cuda(device::cuda), opencl(device::opencl);
  return d == device::cuda ? cuda : d == device::opencl ? opencl : host;
}

std::size_t device_pool::in_use() const noexcept { return counts_of(on_).in_use; }
std::size_t device_pool::peak() const noexcept { return counts_of(on_).peak; }
void device_pool::reset_peak() noexcept {
  counts &c = counts_of(on_);
  c.peak = 0;
  c.raise_peak_to(c.in_use);  // memory that another thread adds meanwhile counts, too
}
void device_pool::limit(std::size_t bytes) noexcept { counts_of(on_).most = bytes; }

void device_pool::trim() noexcept {
  // Halide keeps nothing on OpenCL.
  if (on_ != device::cuda || !counts_of(on_).used || detail::devices_lost()) return;
  if (!halide_cuda_release_unused_device_allocations) return;
  options how{.on = on_};
  if (!detail::use_device("trim", how)) return;
  // Frees in the thread's context, which need not be that of the memory: addresses are unique.
  const detail::current_context current(how);
  detail::context c(how);
  if (current.ok()) (void)halide_cuda_release_unused_device_allocations(&c);
}

namespace detail {
namespace {

int take(void *user, halide_buffer_t &b, const halide_device_interface_t *interface) {
  if (b.device) return halide_device_malloc(user, &b, interface);
  counts &of_device = counts_of(interface);
  if (!of_device.add(b.size_in_bytes())) {
    if (context *c = context::of(user)) c->no_memory = true;
    return halide_error_code_device_malloc_failed;
  }
  const int code = halide_device_malloc(user, &b, interface);
  if (code != 0) of_device.in_use -= b.size_in_bytes();
  return code;
}

}  // namespace

int take_device_memory(context &c, halide_buffer_t &b, device d) {
  return take(&c, b, interface_of(d));
}

int give_back_device_memory(void *user, halide_buffer_t &b) {
  if (!b.device) return 0;
  counts &of_device = counts_of(b.device_interface);
  const int code = halide_device_free(user, &b);
  of_device.in_use -= b.size_in_bytes();
  return code;
}

}  // namespace detail
}  // namespace qkv

// Compiled code calls these by name (codegen/emit/device_memory.cpp).
extern "C" {

int qkv_device_malloc(void *user, halide_buffer_t *b, const halide_device_interface_t *interface) {
  return qkv::detail::take(user, *b, interface);
}

int qkv_device_free(void *user, halide_buffer_t *b) {
  return qkv::detail::give_back_device_memory(user, *b);
}

void qkv_device_free_as_destructor(void *user, void *b) {
  (void)qkv_device_free(user, static_cast<halide_buffer_t *>(b));
}
}
