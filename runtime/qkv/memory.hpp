// SPDX-License-Identifier: BSL-1.0
#pragma once
// The memory of tensors.
#include <cstddef>

namespace qkv::detail {

// Memory aligned to a line of the cache, of huge pages where it is large and the system has them;
// std::free gives it back. nullptr if there is none.
void *new_memory(std::size_t bytes) noexcept;

}  // namespace qkv::detail
