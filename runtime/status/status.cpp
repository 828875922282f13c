// SPDX-License-Identifier: BSL-1.0
#include <qkv/kernel.h>

#include <qkv/status.hpp>

namespace qkv {

static_assert(static_cast<int>(status_code::peer_silent) == QKV_PEER_SILENT,
              "the last status of C and of C++ (tests/structure compares their names)");

const char *message(status_code code) {
  switch (code) {
    case status_code::ok:
      return "ok";
    case status_code::not_linked:
      return "the kernel is not linked in";
    case status_code::wrong_version:
      return "the kernel was built from another version";
    case status_code::wrong_count:
      return "wrong number of arguments";
    case status_code::wrong_dtype:
      return "wrong element type";
    case status_code::wrong_rank:
      return "wrong number of axes";
    case status_code::wrong_device:
      return "wrong device";
    case status_code::wrong_extent:
      return "wrong extent";
    case status_code::wrong_condition:
      return "sizes do not fit each other";
    case status_code::wrong_stride:
      return "wrong stride";
    case status_code::too_large:
      return "too large";
    case status_code::null_data:
      return "no data";
    case status_code::misaligned:
      return "misaligned data";
    case status_code::overlap:
      return "overlapping memory";
    case status_code::out_of_memory:
      return "out of memory";
    case status_code::no_device:
      return "no such device here";
    case status_code::device_failed:
      return "the device failed";
    case status_code::unsupported:
      return "not supported";
    case status_code::bad_file:
      return "bad file";
    case status_code::kernel_failed:
      return "the compiled code failed";
    case status_code::cache_full:
      return "the cache is full";
    case status_code::peer_silent:
      return "another machine is silent";
  }
  return "unknown status";
}

status::status(status_code code, std::string_view text) noexcept : code_(code) {
  try {
    text_ = std::make_shared<const std::string>(text);
  } catch (...) {  // no memory for the text: text() falls back to the code's own
  }
}

}  // namespace qkv
