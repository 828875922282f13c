// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors on a device: views of the caller's device pointers, and memory of our own.
#include <qkv/options.hpp>
#include <qkv/tensor.hpp>

namespace qkv {

// Ok if calls may run on a device. Errors: wrong_device (there is none of this number), unsupported
// (nothing in this program was built for the device), no_device (no driver), device_failed (this
// process was forked from one that used a device). On a machine with a driver but without a device,
// the first call fails.
status available(device) noexcept;

// Memory of a device that this program's calls, prepared params and device_memory objects use: what
// compiled code stores between its steps, and copies of host tensors. Counts are requested bytes
// that were not yet given back; the driver may hold more, because it gets rounded sizes, and CUDA's
// memory is kept for later calls until trim(). All functions may be called at any time, by any
// thread, and cost a few nanoseconds, but for trim().
class device_pool {
 public:
  std::size_t in_use() const noexcept;
  std::size_t peak() const noexcept;  // the most that were in use at once since reset_peak()
  void reset_peak() noexcept;
  // A request that would bring in_use() above so many bytes fails with out_of_memory. No limit at
  // first.
  void limit(std::size_t bytes) noexcept;
  // Gives memory that is not in use back to the driver, which may wait for the device. Nothing to
  // do in a process forked from one that used a device.
  void trim() noexcept;

 private:
  friend device_pool &pool_of(device) noexcept;
  constexpr explicit device_pool(int number) noexcept : number_(number) {}
  int number_;  // of the device
};
device_pool &pool_of(device) noexcept;  // that of the host is always empty

// Memory on a device that is freed with the object. Movable.
class device_memory {
 public:
  device_memory() noexcept;
  device_memory(device_memory &&) noexcept;
  device_memory &operator=(device_memory &&) noexcept;
  ~device_memory();

  // `how.on` is the device, in the caller's context where the options name one. Errors: those of
  // available(), unsupported (the host, a context on OpenCL, or elements of other than 1, 2, 4
  // or 8 bytes), too_large (no elements, or 2^31 or more), device_failed (also where the device has
  // no memory left), out_of_memory (on the host, or beyond the limit of the device's pool).
  static status make(const options &how, int element_bytes, std::int64_t elements,
                     device_memory &result) noexcept;
  // All of it, contiguous, there and back; each waits until done, whatever streams wait for.
  // Errors: null_data (this object or the host has no memory), device_failed (also after a fork).
  status copy_from(const void *host) noexcept;
  status copy_to(void *host) const noexcept;

  void *handle() const noexcept;  // a CUdeviceptr or a cl_mem; null without memory or after a fork
  device on() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// A tensor in device memory of the caller's: a CUdeviceptr or a cl_mem, and strides in elements.
// Passed to a call as any tensor; the call then runs on that device, and tensors on the host are
// copied there and back.
template <auto... Spec>
class device_view : public detail::shaped<tensor_spec<Spec...>> {
  using spec = tensor_spec<Spec...>;
  using base = detail::shaped<spec>;

 public:
  static constexpr bool writable = true, is_view = true;

  template <std::size_t N>
    requires(spec::counts(N))
  device_view(device on, void *handle, const length (&extents)[N])
      : device_view(detail::extents_from<spec>(extents), on, handle) {}
  template <std::size_t N>
    requires(spec::counts(N))
  device_view(device on, void *handle, const length (&extents)[N],
              const length (&strides)[spec::rank])
      : device_view(on, handle, extents) {
    for (int d = 0; d < spec::rank; ++d) this->stride_[static_cast<std::size_t>(d)] = strides[d].n;
  }
  template <class... E>
    requires detail::passes<detail::extents_fit<spec, extents<E...>>>
  device_view(device on, void *handle, const extents<E...> &sizes)
      : device_view(detail::extents_from<spec>(sizes), on, handle) {}

  device_view(device on, void *handle)
    requires(spec::decided_at_call == 0)
      : device_view(detail::known_extents<spec>(), on, handle) {}

  void *handle() const { return handle_; }
  qkv_tensor descriptor() const { return this->describe(handle_, static_cast<int>(on_)); }

 private:
  device_view(const detail::dimensions &extent, device on, void *handle)
      : base(extent, detail::dense_strides(extent, spec::rank)), on_(on), handle_(handle) {}

  device on_;
  void *handle_;
};

}  // namespace qkv
