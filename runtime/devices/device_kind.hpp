// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kind of device: one table of functions, in a file of its own, is all that the runtime knows
// about it; private to the runtime and its tests.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <qkv/options.hpp>
#include <qkv/status.hpp>

#include "compiled/halide.hpp"

namespace qkv::detail {

// Functions that a kind of device does not need are null.
struct device_kind {
  int number = 0;         // in qkv_tensor.device and qkv::device
  const char *name = "";  // in qkv_variant.device
  // True where data of a tensor is an address, so that its alignment and its span can be checked;
  // false where it is a handle of a whole buffer.
  bool has_addresses = true;
  // A part of the name under which compiled code requests the driver, and the driver, loaded once;
  // null where it is absent.
  const char *library = nullptr;
  void *(*driver)() = nullptr;
  // Halide's side of the device; null where nothing in the program was built for it.
  const halide_device_interface_t *(*code)() = nullptr;
  // Completes the options of a call, for example by the context that it runs in. Errors:
  // unsupported (options that have no meaning on this device), with the text of `caller`.
  status (*enter)(const char *caller, options &) = nullptr;
  // The caller's name for memory that Halide allocated: what tensors have as data.
  std::uintptr_t (*handle)(void *user, halide_buffer_t *) = nullptr;
  // Gives memory that is not in use back to the driver, for options that were completed.
  void (*trim)(const options &) = nullptr;
  // Installs handlers in Halide's runtime that only this device has, and gives them back.
  void (*take_over)() = nullptr;
  void (*give_back)() = nullptr;
};

// Loads the first of these libraries that there is; null where all are absent.
void *first_of(std::initializer_list<const char *> libraries);

// Each in the file of its name.
extern const device_kind host_kind, cuda_kind, opencl_kind;
// All kinds of device, at the places of their numbers. The other places hold no device.
constexpr int most_devices = 8;
constexpr std::array<const device_kind *, most_devices> built_in = {&host_kind, &cuda_kind,
                                                                    &opencl_kind};

}  // namespace qkv::detail
