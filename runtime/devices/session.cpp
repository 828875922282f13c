// SPDX-License-Identifier: BSL-1.0
#include "devices/session.hpp"

#include "devices/device_pool.hpp"
#include "devices/devices.hpp"
#include "memory/layout.hpp"
#include "status/fail.hpp"

namespace qkv::detail {

device_session::device_session(const qkv_kernel &k, user_context &c)
    : k_(k), context_(c), where_(c.how.on) {
  if (where_ != device::host) buffers_.reserve(static_cast<std::size_t>(k.n_arguments));
}

status device_session::attach(halide_buffer_t &b, const qkv_tensor &t, const qkv_argument &a) {
  if (where_ == device::host) return {};
  const bool output = a.role == QKV_OUT, wrapped = t.device != QKV_HOST && !empty(t);
  if (wrapped) {
    const auto handle = reinterpret_cast<std::uintptr_t>(t.data);
    const halide_device_interface_t *there = kind_of(where_)->code();
    if (const int code = there->wrap_native(&context_, &b, handle, there))
      return failed("cannot use the device memory of", a.name, code);
  } else {
    if (const int code = take_device_memory(context_, b, where_))
      return context_.no_memory ? beyond_limit(a.name, b) : failed("no memory for", a.name, code);
    if (!output) b.set_host_dirty();
  }
  buffers_.push_back({&b, wrapped, output});
  return {};
}

status device_session::collect() {
  const attached *last = nullptr;  // of the outputs that the device knows
  // A caller's stream orders work on device memory alone. The driver copies page-locked host memory
  // in the stream's own time.
  bool wait = context_.how.device_stream == nullptr;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const attached &a = buffers_[i];
    wait = wait || !a.wrapped;
    if (!a.output) continue;
    if (a.view->device_interface) last = &a;
    if (a.wrapped || !a.view->device_interface) continue;
    if (const int code = a.view->device_interface->copy_to_host(&context_, a.view))
      return failed("cannot copy back", k_.arguments[i].name, code);
  }
  if (last && wait) {
    if (const int code = last->view->device_interface->device_sync(&context_, last->view))
      return failed("cannot wait for", k_.arguments[last - buffers_.data()].name, code);
  }
  return {};
}

device_session::~device_session() {
  for (const attached &a : buffers_) {
    if (!a.wrapped)
      (void)give_back_device_memory(&context_, *a.view);
    else if (a.view->device_interface)
      (void)a.view->device_interface->detach_native(&context_, a.view);
  }
}

status device_session::beyond_limit(const char *argument, const halide_buffer_t &b) const {
  return fail(status_code::out_of_memory, "{}: no memory on {} for {} ({} bytes)", k_.name,
              device_name(where_), argument, b.size_in_bytes());
}

status device_session::failed(const char *what, const char *argument, int code) const {
  return fail(status_code::device_failed, "{}: {} {}: {} (code {})", k_.name, what, argument,
              context_.has_text ? context_.text.data() : "no text", code);
}

}  // namespace qkv::detail
