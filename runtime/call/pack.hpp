// SPDX-License-Identifier: BSL-1.0
#pragma once
// Params laid out as a kernel's inner loops read them; private to the runtime.
#include <qkv/kernel.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <qkv/status.hpp>
#include <qkv/workspace.hpp>
#include <utility>

namespace qkv::detail {

// The layout that qkv_pack of kernel.h describes, for the extents of one tensor.
struct panels {
  std::array<std::int32_t, QKV_MAX_RANK + 3>
      extent{};  // outer..., blocks of columns, rows, columns of a panel
  int rank = 0;
  std::size_t bytes = 0;
};

// Errors: too_large, with the names of the kernel and the argument.
status measure(const qkv_kernel &, const qkv_pack &, const qkv_tensor &, panels &);

// Writes the panels of a checked host tensor to `to`, which has room for measure()'s bytes. Cost:
// one pass. Throws std::bad_alloc.
void write_panels(const qkv_pack &, const qkv_tensor &, const panels &, void *to);

// Memory of a workspace that goes back by itself.
class borrowed {
 public:
  borrowed() = default;
  borrowed(workspace &w, std::size_t bytes) : from_(&w), data_(w.take(bytes)) {}
  borrowed(borrowed &&o) noexcept : from_(o.from_), data_(std::exchange(o.data_, nullptr)) {}
  borrowed &operator=(borrowed &&) = delete;
  ~borrowed() {
    if (data_) from_->give_back(data_);
  }
  void *data() const { return data_; }

 private:
  workspace *from_ = nullptr;
  void *data_ = nullptr;
};

}  // namespace qkv::detail
