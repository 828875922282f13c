// SPDX-License-Identifier: BSL-1.0
#include <qkv/device.hpp>

#include <new>

#include "devices/device_pool.hpp"
#include "devices/devices.hpp"
#include "process/fork.hpp"
#include "status/fail.hpp"

namespace qkv {

struct device_memory::state {
  options how;
  halide_buffer_t view{};
  halide_dimension_t dim{};
};

namespace {

constexpr const char *caller = "device_memory";

status failed(const char *what, const detail::user_context &c, int code) {
  const char *text = c.has_text ? c.text.data() : "no text";
  return detail::fail(status_code::device_failed, "{}: {}: {} (code {})", caller, what, text, code);
}

// Ok if there is memory on both sides and this process may still use it.
status usable(bool there_is, const void *host) {
  if (!there_is) return detail::fail(status_code::null_data, "{}: no memory was allocated", caller);
  if (!host) return detail::fail(status_code::null_data, "{}: the host's memory is null", caller);
  if (detail::devices_lost())
    return detail::fail(status_code::device_failed,
                        "{}: a process forked from one that used a device cannot use any", caller);
  return {};
}

}  // namespace

status available(device d) noexcept { return detail::present("available", d); }

device_memory::device_memory() noexcept = default;
device_memory::device_memory(device_memory &&) noexcept = default;
device_memory &device_memory::operator=(device_memory &&other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

device_memory::~device_memory() {
  if (!state_ || !state_->view.device || detail::devices_lost()) return;
  detail::user_context c(state_->how);
  (void)detail::give_back_device_memory(&c, state_->view);
}

status device_memory::make(const options &how, int element_bytes, std::int64_t elements,
                           device_memory &result) noexcept {
  if (how.on == device::host)
    return detail::fail(status_code::unsupported, "{}: the host is not a device", caller);
  options where{.on = how.on, .device_context = how.device_context};
  if (status s = detail::use_device(caller, where); !s) return s;
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8)
    return detail::fail(status_code::unsupported, "{}: elements of {} bytes; 1, 2, 4 and 8 exist",
                        caller, element_bytes);
  if (elements < 1 || elements > INT32_MAX) {
    return detail::fail(status_code::too_large, "{}: {} elements; from 1 to {} fit", caller,
                        elements, INT32_MAX);
  }
  device_memory made;
  made.state_.reset(new (std::nothrow) state);
  if (!made.state_) return status_code::out_of_memory;
  state &s = *made.state_;
  s.how = where;
  s.dim = {0, static_cast<std::int32_t>(elements), 1};
  s.view.type = {halide_type_uint, static_cast<std::uint8_t>(8 * element_bytes)};
  s.view.dimensions = 1;
  s.view.dim = &s.dim;
  detail::user_context c(s.how);
  if (const int code = detail::take_device_memory(c, s.view, how.on)) {
    if (!c.no_memory) return failed("no memory", c, code);
    return detail::fail(status_code::out_of_memory, "{}: {} bytes are beyond the limit of {}",
                        caller, s.view.size_in_bytes(), detail::device_name(how.on));
  }
  result = std::move(made);
  return {};
}

status device_memory::copy_from(const void *host) noexcept {
  if (status s = usable(state_ != nullptr, host); !s) return s;
  detail::user_context c(state_->how);
  halide_buffer_t view = state_->view;
  view.host = static_cast<std::uint8_t *>(const_cast<void *>(host));
  view.set_host_dirty();
  int code = view.device_interface->copy_to_device(&c, &view, view.device_interface);
  // Streams of the caller's do not wait for the context's default one.
  if (code == 0) code = view.device_interface->device_sync(&c, &view);
  return code == 0 ? status{} : failed("cannot copy to the device", c, code);
}

status device_memory::copy_to(void *host) const noexcept {
  if (status s = usable(state_ != nullptr, host); !s) return s;
  detail::user_context c(state_->how);
  halide_buffer_t view = state_->view;
  view.host = static_cast<std::uint8_t *>(host);
  view.set_device_dirty();
  const int code = view.device_interface->copy_to_host(&c, &view);
  return code == 0 ? status{} : failed("cannot copy to the host", c, code);
}

void *device_memory::handle() const noexcept {
  if (!state_ || detail::devices_lost()) return nullptr;
  detail::user_context c(state_->how);
  return reinterpret_cast<void *>(detail::kind_of(on())->handle(&c, &state_->view));
}

device device_memory::on() const noexcept { return state_ ? state_->how.on : device::host; }

}  // namespace qkv
