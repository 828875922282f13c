// SPDX-License-Identifier: BSL-1.0
#include <qkv/saved.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <qkv/core/axis.hpp>
#include <qkv/core/dtype.hpp>
#include <qkv/core/kept_step.hpp>
#include <qkv/device.hpp>
#include <qkv/memory.hpp>
#include <string>

#include "call/check.hpp"
#include "call/libraries.hpp"
#include "memory/dense.hpp"
#include "memory/layout.hpp"
#include "status/fail.hpp"

namespace qkv {
namespace {

using detail::fail;

constexpr std::size_t line = 64;
constexpr std::int64_t unknown = -1;

std::size_t padded(std::size_t bytes) { return (bytes + line - 1) / line * line; }

// The size of an axis of one table, from those of another table of the same spec.
std::int64_t size_in(const qkv_kernel &k, std::span<const std::int64_t> sizes,
                     std::string_view axis) {
  for (int a = 0; a < k.n_axes; ++a)
    if (axis == k.axes[a].name) {
      const qkv_axis &root = k.axes[k.axes[a].root];
      return root.size >= 0 ? root.size : sizes[static_cast<std::size_t>(k.axes[a].root)];
    }
  return unknown;
}

status find_part(const qkv_kernel &k, const char *suffix, const qkv_kernel *&result) {
  status s = detail::find_table(std::string(k.name) + suffix, result);
  if (s.code() != status_code::not_linked) return s;
  return fail(status_code::not_linked,
              "{}: its library was built without what saves steps: SAVED of qkv_add_kernels",
              k.name);
}

// The tensors that a kernel keeps, without memory.
std::vector<qkv_tensor> kept_tensors(const qkv_kernel &saving,
                                     const std::function<std::int64_t(std::string_view)> &size) {
  std::vector<qkv_tensor> all;
  for (int i = 0; i < saving.n_arguments; ++i) {
    const qkv_argument &a = saving.arguments[i];
    if (!core::is_kept_step(a.name)) continue;
    qkv_tensor &t = all.emplace_back();
    t = {};
    t.dtype = a.dtype;
    t.rank = a.rank;
    for (int d = 0; d < a.rank; ++d) {
      const qkv_axis &axis = saving.axes[a.axes[d]];
      t.extent[d] = axis.size >= 0 ? axis.size : size(axis.name);
    }
    t = detail::dense(t, nullptr);
  }
  return all;
}

std::size_t bytes_of(const std::vector<qkv_tensor> &tensors) {
  std::size_t all = 0;
  for (const qkv_tensor &t : tensors) all += padded(detail::dense_bytes(t));
  return all;
}

// Sets the sizes of the axes' roots.
status read_sizes(const qkv_kernel &k, std::span<const axis_size> given,
                  std::vector<std::int64_t> &sizes) {
  for (const axis_size &one : given) {
    const auto *const end = k.axes + k.n_axes, *const axis = std::find_if(
                                                   k.axes, end, [&](const qkv_axis &a) {
                                                     return one.axis == a.name;
                                                   });
    if (axis == end)
      return fail(status_code::wrong_extent, "{}: it has no axis {}", k.name, one.axis);
    const std::int64_t fixed = k.axes[axis->root].size;
    std::int64_t &size = sizes[static_cast<std::size_t>(axis->root)];
    const std::int64_t known = fixed >= 0 ? fixed : size;
    if (one.n < 0 || (known >= 0 && one.n != known))
      return fail(status_code::wrong_extent, "{}: axis {} is {}, not {}", k.name, one.axis,
                  known >= 0 ? std::to_string(known) : "at least 0", one.n);
    if (one.n > core::longest_axis)
      return fail(status_code::too_large, "{}: axis {} is {}, more than {}", k.name, one.axis,
                  one.n, core::longest_axis);
    size = one.n;
  }
  return {};
}

// True if more bytes than a call can have.
bool is_too_large(const std::vector<qkv_tensor> &tensors) {
  double all = 0;
  for (const qkv_tensor &t : tensors) {
    double n = size_of(static_cast<dtype>(t.dtype));
    for (int d = 0; d < t.rank; ++d) n *= static_cast<double>(t.extent[d]);
    all += n;
  }
  return all > 0x1p62;
}

status in_use(const qkv_kernel &k) {
  return fail(status_code::unsupported, "{}: what is saved is in use by another call", k.name);
}

status no_state() {
  return fail(status_code::null_data, "saved: it was moved away, or made without memory");
}

template <class F>
status guarded(const qkv_kernel &k, const F &f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc &) {
    return fail(status_code::out_of_memory, "{}: no memory for the call itself", k.name);
  }
}

}  // namespace

struct saved_steps::state {
  // Readers, or -1: a call writes.
  mutable std::atomic<int> users{0};
  bool is_given = false;  // the caller's memory
  void *given = nullptr;
  std::size_t given_bytes = 0;
  std::unique_ptr<std::byte, decltype(&std::free)> own{nullptr, &std::free};
  std::size_t own_bytes = 0;
  std::vector<device_memory> of_device;
  // Of the last call.
  bool is_full = false;
  std::string kernel;
  std::uint64_t fingerprint = 0;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<qkv_tensor> tensors;

  // Memory for the tensors, on the host or on a device.
  status place(const char *name, const options &how) {
    return how.on == device::host ? place_on_host(name) : place_on_device(how);
  }
  status place_on_host(const char *name) {
    const std::size_t bytes = bytes_of(tensors);
    if (is_given && bytes > given_bytes)
      return fail(status_code::out_of_memory, "{}: {} bytes are saved, and the memory has {}", name,
                  bytes, given_bytes);
    if (is_given && reinterpret_cast<std::uintptr_t>(given) % alignof(std::max_align_t) != 0)
      return fail(status_code::misaligned, "{}: the memory for what is saved is not aligned to {}",
                  name, alignof(std::max_align_t));
    if (!is_given && bytes > own_bytes) {
      own.reset();
      own_bytes = 0;
      own.reset(static_cast<std::byte *>(detail::new_memory(std::max(bytes, line))));
      if (!own)
        return fail(status_code::out_of_memory, "{}: no memory for {} bytes that are saved", name,
                    bytes);
      own_bytes = bytes;
    }
    auto *at = is_given ? static_cast<std::byte *>(given) : own.get();
    for (qkv_tensor &t : tensors) {
      t.data = at;
      at += padded(detail::dense_bytes(t));
    }
    return {};
  }
  status place_on_device(const options &how) {
    of_device.clear();
    for (qkv_tensor &t : tensors) {
      if (detail::empty(t)) continue;  // it stays on the host
      const int size = size_of(static_cast<dtype>(t.dtype));
      const auto n = static_cast<std::int64_t>(detail::dense_bytes(t)) / size;
      if (status s = device_memory::make(how, size, n, of_device.emplace_back()); !s) return s;
      t.data = of_device.back().handle();
      t.device = static_cast<int>(how.on);
    }
    return {};
  }

  // Of the first tensor on a device, or of the options.
  static options on_device_of(std::span<const qkv_tensor> arguments, options how) {
    for (const qkv_tensor &t : arguments)
      if (t.device != QKV_HOST && how.on == device::host) how.on = static_cast<device>(t.device);
    return how;
  }

  status fill(const qkv_kernel &k, std::span<const qkv_tensor> arguments, const options &how) {
    is_full = false;
    const qkv_kernel *saving = nullptr;
    if (status s = find_part(k, "_saving", saving); !s) return s;
    std::vector<std::int64_t> of_axes(static_cast<std::size_t>(std::max(0, k.n_axes)));
    if (status s = detail::check(k, arguments, of_axes); !s) return s;
    tensors =
        kept_tensors(*saving, [&](std::string_view axis) { return size_in(k, of_axes, axis); });
    if (status s = place(k.name, on_device_of(arguments, how)); !s) return s;
    std::vector<qkv_tensor> list(arguments.begin(), arguments.end());
    list.insert(list.end(), tensors.begin(), tensors.end());
    if (how.accumulate) {  // added to nothing
      if (!of_device.empty())
        return fail(status_code::unsupported, "{}: a call that saves on a device adds to no output",
                    k.name);
      std::vector<std::int64_t> all(static_cast<std::size_t>(std::max(0, saving->n_axes)));
      if (status s = detail::check(*saving, list, all); !s) return s;  // before anything is written
      for (const qkv_tensor &t : tensors)
        if (!detail::empty(t)) std::memset(t.data, 0, detail::dense_bytes(t));
    }
    if (status s = run(*saving, list, how); !s) return s;
    kernel = k.name;
    fingerprint = saving->fingerprint;
    sizes.clear();
    for (int a = 0; a < k.n_axes; ++a)
      sizes.emplace_back(k.axes[a].name, size_in(k, of_axes, k.axes[a].name));
    is_full = true;
    return {};
  }

  status read(const qkv_kernel &gradient, std::span<const qkv_tensor> arguments,
              const options &how) const {
    if (!is_full)
      return fail(status_code::null_data, "{}: nothing is saved: call the kernel with it first",
                  gradient.name);
    const qkv_kernel *saving = nullptr, *saved = nullptr;
    if (std::string(gradient.name) != kernel + "_gradient")
      return fail(status_code::wrong_version, "{}: what is saved is of {}", gradient.name, kernel);
    if (status s = find_part(gradient, "_saved", saved); !s) return s;
    if (status s = detail::find_table(kernel + "_saving", saving); !s) return s;
    if (saving->fingerprint != fingerprint)
      return fail(status_code::wrong_version, "{}: what is saved is of another build of {}",
                  gradient.name, kernel);
    std::vector<std::int64_t> of_axes(static_cast<std::size_t>(std::max(0, gradient.n_axes)));
    if (status s = detail::check(gradient, arguments, of_axes); !s) return s;
    for (const auto &[axis, n] : sizes)
      if (const std::int64_t here = size_in(gradient, of_axes, axis); here != unknown && here != n)
        return fail(status_code::wrong_extent, "{}: axis {} is {} but {} in what is saved",
                    gradient.name, axis, here, n);
    const auto results = std::find_if(gradient.arguments, gradient.arguments + gradient.n_arguments,
                                      [](const qkv_argument &a) { return a.role == QKV_OUT; });
    std::vector<qkv_tensor> list(arguments.begin(), arguments.end());
    list.insert(list.begin() + (results - gradient.arguments), tensors.begin(), tensors.end());
    return run(*saved, list, how);
  }
};

saved_steps::saved_steps() noexcept : state_(new(std::nothrow) state) {}
saved_steps::saved_steps(void *memory, std::size_t bytes) noexcept : saved_steps() {
  if (!state_) return;
  state_->is_given = true;
  state_->given = memory;
  state_->given_bytes = memory ? bytes : 0;
}
saved_steps::saved_steps(saved_steps &&) noexcept = default;
saved_steps &saved_steps::operator=(saved_steps &&) noexcept = default;
saved_steps::~saved_steps() = default;

status saved_steps::save(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
                         const options &how) noexcept {
  if (!state_) return no_state();
  int free = 0;
  if (!state_->users.compare_exchange_strong(free, -1)) return in_use(k);
  const status s = guarded(k, [&] { return state_->fill(k, arguments, how); });
  state_->users.store(0);
  return s;
}

status saved_steps::use(const qkv_kernel &gradient, std::span<const qkv_tensor> arguments,
                        const options &how) const noexcept {
  if (!state_) return no_state();
  int readers = state_->users.load();
  do {
    if (readers < 0) return in_use(gradient);
  } while (!state_->users.compare_exchange_weak(readers, readers + 1));
  const status s = guarded(gradient, [&] { return state_->read(gradient, arguments, how); });
  state_->users.fetch_sub(1);
  return s;
}

status saved_bytes(const qkv_kernel &k, std::span<const axis_size> given,
                   std::size_t &result) noexcept try {
  const qkv_kernel *saving = nullptr;
  if (status s = find_part(k, "_saving", saving); !s) return s;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(std::max(0, k.n_axes)), unknown);
  if (status s = read_sizes(k, given, sizes); !s) return s;
  detail::derive_sizes(k, sizes);
  std::string missing;
  const std::vector<qkv_tensor> tensors = kept_tensors(*saving, [&](std::string_view axis) {
    const std::int64_t n = size_in(k, sizes, axis);
    if (n < 0) missing = axis;
    return std::max<std::int64_t>(n, 0);
  });
  if (!missing.empty())
    return fail(status_code::wrong_extent, "{}: the size of {} is missing", k.name, missing);
  if (is_too_large(tensors))
    return fail(status_code::too_large, "{}: what is saved has more bytes than memory can have",
                k.name);
  result = bytes_of(tensors);
  return {};
} catch (const std::bad_alloc &) {
  return fail(status_code::out_of_memory, "{}: no memory for the call itself", k.name);
}

}  // namespace qkv
