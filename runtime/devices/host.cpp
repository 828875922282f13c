// SPDX-License-Identifier: BSL-1.0
// The host: calls need no driver and no copies.
#include "devices/device_kind.hpp"

namespace qkv::detail {

constinit const device_kind host_kind{.number = QKV_HOST, .name = "host"};

}  // namespace qkv::detail
