// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels of all generated libraries that are linked into the program.
#include <qkv/kernel.h>

#include <string_view>
#include <vector>

namespace qkv {

// Libraries register themselves when they are loaded, before static initialisers, and unregister
// when they are unloaded. Both functions may be called from any thread, and throw std::bad_alloc if
// memory for the list runs out.
std::vector<const qkv_kernel *> kernels();
std::vector<const qkv_kernel *> kernels(
    std::string_view name);  // several where libraries use the same name

}  // namespace qkv
