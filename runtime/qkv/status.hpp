// SPDX-License-Identifier: BSL-1.0
#pragma once
// The result of a call: a code, and a text that names the kernel, the argument, the axis, and the
// expected and found values.
#include <memory>
#include <string>
#include <string_view>

namespace qkv {

// The numbers that the plain C functions return (qkv/kernel.h).
enum class status_code : int {
  ok = 0,
  not_linked,       // no library with this kernel is linked into the program, or it was unloaded
  wrong_version,    // built from another spec or for another runtime, or two libraries differ
  wrong_count,      // too few or too many arguments
  wrong_dtype,      // the argument's element type is not the declared one
  wrong_rank,       // the argument has too few or too many axes
  wrong_device,     // arguments lie on different devices, or on one that does not exist
  wrong_extent,     // an extent is negative or differs from the declared one or between arguments
  wrong_condition,  // sizes violate a requirement of split, merge, concat or rename
  wrong_stride,     // the innermost stride is not 1, or a stride is negative
  too_large,      // an extent, a tensor, a stored step or a computed position does not fit 32 bits
  null_data,      // an argument has elements but no memory
  misaligned,     // the memory is not aligned to the element size
  overlap,        // an output overlaps itself, another output or an input
  out_of_memory,  // the workspace, the system or the device's pool has no more memory
  no_device,      // the device's driver or the device itself is absent
  device_failed,  // the device's driver reported an error
  unsupported,    // the library was not built for this device, or the request has no meaning
  bad_file,       // a file is absent, damaged, or not of the expected kind
  kernel_failed,  // the compiled code reported an error of its own
  cache_full,     // a cache of keys and values has no room for more
  peer_silent,    // another machine sent nothing for too long
};

// A short text for each code. Cost: none. Never fails.
const char *message(status_code);

// The result of everything in the runtime that can go wrong. Making, copying and reading one never
// throws; without memory for the text, the code's short text replaces it.
class [[nodiscard]] status {
 public:
  status() noexcept = default;
  status(status_code code) noexcept : code_(code) {}  // NOLINT: a code alone is a status
  status(status_code code, std::string_view text) noexcept;

  bool ok() const noexcept { return code_ == status_code::ok; }
  explicit operator bool() const noexcept { return ok(); }
  status_code code() const noexcept { return code_; }
  const char *text() const noexcept { return text_ ? text_->c_str() : message(code_); }

 private:
  status_code code_ = status_code::ok;
  std::shared_ptr<const std::string> text_;
};

}  // namespace qkv
