// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors of one machine, with the names of their axes.
#include <qkv/kernel.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <qkv/workspace.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::ring {

struct local_tensor {
  qkv_tensor t{};
  std::vector<std::string> axes;
  std::shared_ptr<std::byte> memory;  // null: the caller's

  // Dense, of the argument's type. Throws std::bad_alloc.
  static local_tensor made(workspace &, const qkv_kernel &, const qkv_argument &,
                           const std::vector<std::int64_t> &extents);

  int place(std::string_view axis) const;  // -1: it lacks the axis
  // Neighbouring positions along an axis.
  qkv_tensor part(int place, std::int64_t first, std::int64_t n) const;
};

std::vector<std::string> names_of_axes(const qkv_kernel &, const qkv_argument &);
// Memory of a workspace, which gets it back: pages of the system would be new at every call. Throws
// std::bad_alloc.
std::shared_ptr<std::byte> borrowed(workspace &, std::size_t bytes);
// Sets every element of a tensor made here, of f32, f64 or i32.
void fill(const local_tensor &, double);

}  // namespace qkv::ring
