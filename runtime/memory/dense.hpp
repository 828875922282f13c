// SPDX-License-Identifier: BSL-1.0
#pragma once
// Contiguous copies of tensors; private to the runtime.
#include <qkv/kernel.h>

#include <cstddef>
#include <qkv/device.hpp>

namespace qkv::detail {

// Bytes of all elements, contiguous.
std::size_t dense_bytes(const qkv_tensor &);
// A contiguous tensor of the same extents in other memory.
qkv_tensor dense(const qkv_tensor &, void *data);
// The same elements, contiguous; `to` has room for all of them.
void copy_dense(const qkv_tensor &, void *to);
// Copies contiguous elements to those of a tensor.
void copy_apart(const void *from, const qkv_tensor &);
// True if the elements lie in short runs with gaps between them. A copy to or from a device takes
// microseconds for each run.
bool is_fragmented(const qkv_tensor &);
// Adds contiguous elements to those of a tensor of f32 or f64.
void add_dense(const void *from, const qkv_tensor &);
// Copies the elements of a tensor that is not empty, which lie contiguous in the host's memory, to
// new memory of `how.on`, and makes the tensor describe that. Errors: those of device_memory.
status upload(const options &how, const void *contiguous, qkv_tensor &, device_memory &there);

}  // namespace qkv::detail
