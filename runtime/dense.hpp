#pragma once
// Contiguous copies of tensors; private to the runtime.
#include <qkv/kernel.h>

#include <cstddef>

namespace qkv::detail {

// Bytes of all elements, contiguous.
std::size_t dense_bytes(const qkv_tensor &);
// A contiguous tensor of the same extents in other memory.
qkv_tensor dense(const qkv_tensor &, void *data);
// The same elements, contiguous; `to` has room for all of them.
void copy_dense(const qkv_tensor &, void *to);

}  // namespace qkv::detail
