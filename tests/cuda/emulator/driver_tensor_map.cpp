// SPDX-License-Identifier: BSL-1.0
// Tensor maps for the copy engine.
#include <cstdint>
#include <cstring>

#include "tests/cuda/emulator/driver.hpp"

#include "tests/cuda/emulator/tensor_map.hpp"

namespace qkv::ptx {}  // namespace qkv::ptx

using namespace qkv::ptx;

#pragma GCC visibility push(default)
extern "C" {

result cuTensorMapEncodeTiled(void *out, int data_type, unsigned rank, void *address,
                              const unsigned long long *size, const unsigned long long *strides,
                              const unsigned *box_, const unsigned *element_strides, int interleave,
                              int swizzle, int, int) {
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (rank < 1 || rank > 5 || data_type < 0 || data_type > 12 || interleave != 0 ||
      reinterpret_cast<std::uintptr_t>(address) % 16)
    return result::invalid_value;
  tensor_map t{};
  t.mark = tensor_map_mark;
  t.address = reinterpret_cast<std::uint64_t>(address);
  t.rank = static_cast<std::uint8_t>(rank);
  t.element = static_cast<std::uint8_t>(bytes[data_type]);
  t.swizzle = static_cast<std::uint8_t>(swizzle);
  for (unsigned d = 0; d < rank; ++d) {
    if (box_[d] == 0 || box_[d] > 256 || element_strides[d] != 1) return result::invalid_value;
    if (d > 0 && strides[d - 1] % 16) return result::invalid_value;
    t.size[d] = size[d];
    t.stride[d] = d == 0 ? t.element : strides[d - 1];
    t.box[d] = box_[d];
  }
  const unsigned inner = box_[0] * t.element;
  if (inner % 16 || (swizzle && inner > (16u << swizzle))) return result::invalid_value;
  std::memset(out, 0, 128);
  std::memcpy(out, &t, sizeof t);
  return result::success;
}

}  // extern "C"
#pragma GCC visibility pop
