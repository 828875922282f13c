#pragma once
// The kernels of all generated libraries that are linked into the program.
#include <qkv/kernel.h>

#include <string_view>
#include <vector>

namespace qkv {

// Libraries register themselves before main, or when they are loaded. Both may be called from any thread.
std::vector<const qkv_kernel *> kernels();
std::vector<const qkv_kernel *> kernels(
    std::string_view name);  // several where libraries use the same name

}  // namespace qkv
