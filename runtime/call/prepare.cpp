// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <atomic>
#include <qkv/device.hpp>
#include <qkv/run.hpp>
#include <string>
#include <vector>

#include "call/check.hpp"
#include "call/invoke.hpp"
#include "call/libraries.hpp"
#include "devices/devices.hpp"
#include "memory/dense.hpp"
#include "memory/layout.hpp"
#include "status/fail.hpp"

namespace qkv {

using detail::fail;

struct prepared::state {
  const qkv_kernel *kernel;
  // Registration of the kernel's library, if any: the kernel disappears with its library.
  std::uint64_t registration;
  std::string name;
  mutable std::atomic<std::uint64_t> seen;  // registry_changes() when the library was last found

  std::vector<qkv_tensor>
      tensors;  // of the params; those of other arguments are filled in by the call
  std::vector<detail::bound_param> params;  // one for each argument
  detail::bound_params bound;
  workspace memory;
  std::vector<detail::borrowed> kept;
  std::vector<device_memory> uploaded;
  device on = device::host;
  void *device_context = nullptr;

  explicit state(const qkv_kernel &k)
      : kernel(&k),
        registration(detail::registration_of(&k)),
        name(k.name),
        seen(detail::registry_changes()),
        tensors(static_cast<std::size_t>(k.n_arguments)),
        params(tensors.size()) {
    bound.of.resize(tensors.size());
    kept.reserve(tensors.size());
    uploaded.reserve(tensors.size());
  }

  bool gone() const {
    if (registration == 0) return false;
    const std::uint64_t now = detail::registry_changes();
    if (seen.load(std::memory_order_relaxed) == now) return false;
    if (!detail::still_registered(kernel, registration)) return true;
    seen.store(now, std::memory_order_relaxed);
    return false;
  }

  status no_memory(std::size_t i, std::size_t bytes) const {
    return fail(status_code::out_of_memory, "{}: no memory for {} ({} bytes)", name,
                kernel->arguments[i].name, bytes);
  }

  // Keeps a param in host memory as the variant reads it: packed, or contiguous.
  status keep(std::size_t i) {
    qkv_tensor &t = tensors[i];
    detail::bound_param &p = params[i];
    const qkv_pack *packed = detail::pack_of(*bound.variant, i);
    p.packed = packed != nullptr;
    std::size_t bytes = detail::dense_bytes(t);
    if (packed) {
      if (status s = detail::measure(*kernel, *packed, t, p.layout); !s) return s;
      bytes = p.layout.bytes;
    }
    p.data = kept.emplace_back(memory, bytes).data();
    if (!p.data) return no_memory(i, bytes);
    if (packed)
      detail::write_panels(*packed, t, p.layout, p.data);
    else
      detail::copy_dense(t, p.data);
    t = detail::dense(t, p.data);
    bound.of[i] = &p;
    return {};
  }

  // Keeps a param as the device's compiled code reads it: contiguous, in memory of the device.
  status upload(std::size_t i, const options &how) {
    qkv_tensor &t = tensors[i];
    if (detail::empty(t) || detail::pack_of(*bound.variant, i)) return keep(i);
    const std::size_t bytes = detail::dense_bytes(t);
    const detail::borrowed contiguous(memory, bytes);
    if (!contiguous.data()) return no_memory(i, bytes);
    detail::copy_dense(t, contiguous.data());
    if (status s = detail::upload(how, contiguous.data(), t, uploaded.emplace_back()); !s)
      return fail(s.code(), "{}: {}: {}", name, kernel->arguments[i].name, s.text());
    return {};
  }
};

status prepared::make(const qkv_kernel &k, std::span<const qkv_tensor> params, prepared &result,
                      const options &how) noexcept try {
  const auto wanted = std::count_if(k.arguments, k.arguments + k.n_arguments,
                                    [](const qkv_argument &a) { return a.role == QKV_PARAM; });
  if (static_cast<std::ptrdiff_t>(params.size()) != wanted) {
    return fail(status_code::wrong_count, "{}: {} params given but there are {}", k.name,
                params.size(), wanted);
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k.n_axes));
  if (status s = detail::check_params(k, params, sizes); !s) return s;
  auto made = std::make_shared<state>(k);
  std::size_t next = 0;
  for (std::size_t i = 0; i < made->tensors.size(); ++i)
    if (k.arguments[i].role == QKV_PARAM) made->tensors[i] = params[next++];
  options where = how;
  if (status s = detail::choose(k, made->tensors, where.on); !s) return s;
  if (status s = detail::required_variant(k, where.on, made->bound.variant); !s) return s;
  made->on = where.on;
  if (where.on != device::host) {
    if (status s = detail::use_device(k.name, where); !s) return s;
    made->device_context = where.device_context;
  }
  for (std::size_t i = 0; i < made->tensors.size(); ++i) {
    const bool here = k.arguments[i].role == QKV_PARAM && made->tensors[i].device == QKV_HOST;
    if (!here) continue;
    if (status s = where.on == device::host ? made->keep(i) : made->upload(i, where); !s) return s;
  }
  made->memory.trim();
  result.state_ = std::move(made);
  return {};
} catch (...) {
  return fail(status_code::out_of_memory, "{}: no memory for prepared params", k.name);
}

status prepared::run(std::span<const qkv_tensor> arguments, const options &how) const noexcept {
  if (!state_) return {status_code::not_linked, "a prepared kernel that was never made"};
  if (state_->gone())
    return fail(status_code::not_linked, "{}: its library was unloaded after it was prepared",
                state_->name);
  const qkv_kernel &k = *state_->kernel;
  try {
    std::vector<qkv_tensor> all = state_->tensors;
    std::size_t next = 0, wanted = 0;
    for (int i = 0; i < k.n_arguments; ++i) {
      if (k.arguments[i].role == QKV_PARAM) continue;
      ++wanted;
      if (next < arguments.size()) all[i] = arguments[next++];
    }
    if (wanted != arguments.size()) {
      return fail(status_code::wrong_count,
                  "{}: {} arguments given but {} needed besides the params", k.name,
                  arguments.size(), wanted);
    }
    options there = how;
    if (there.on == device::host) there.on = state_->on;
    if (!there.device_context) there.device_context = state_->device_context;
    if (state_->device_context && there.device_context != state_->device_context) {
      return fail(status_code::wrong_device, "{}: its params were prepared in another context",
                  k.name);
    }
    return detail::run(k, all, &state_->bound, there);
  } catch (...) {
    return fail(status_code::out_of_memory, "{}: no memory for the call itself", k.name);
  }
}

}  // namespace qkv
