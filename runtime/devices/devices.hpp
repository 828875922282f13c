// SPDX-License-Identifier: BSL-1.0
#pragma once
// The devices that there are, by number and by name, and their drivers; private to the runtime.
#include <qkv/kernel.h>

#include <qkv/options.hpp>
#include <qkv/status.hpp>
#include <string>
#include <string_view>

#include "devices/device_kind.hpp"

namespace qkv::detail {

// Makes a kind of device known, in place of the one of its number, or of none (nullptr). Not while
// a call uses that device. Returns the one before.
const device_kind *set_device(int number, const device_kind *) noexcept;

// Null where there is none.
const device_kind *kind_of(int number) noexcept;
inline const device_kind *kind_of(device d) noexcept { return kind_of(static_cast<int>(d)); }
const device_kind *kind_of(const halide_device_interface_t *) noexcept;
const device_kind *kind_named(std::string_view) noexcept;

const char *device_name(int number) noexcept;
inline const char *device_name(device d) noexcept { return device_name(static_cast<int>(d)); }
std::string device_names();  // host, cuda or opencl

bool is_device_error(int halide_code);

// Checks that the driver of a device can be loaded and that the compiled code's runtime knows the
// device.
status present(const char *caller, device);

// Readies this process for calls to the driver of `how.on`, and completes the options. Errors:
// those of present() and of the device's own enter().
status use_device(const char *caller, options &how);

}  // namespace qkv::detail
