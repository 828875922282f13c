// SPDX-License-Identifier: BSL-1.0
#pragma once
// The data that cuTensorMapEncodeTiled writes into the caller's 128 bytes, for the copy engine.
#include <cstdint>

namespace qkv::ptx {

struct tensor_map {
  std::uint64_t mark, address;
  std::uint64_t size[5], stride[5];  // elements, bytes; stride[0] is the size of an element
  std::uint32_t box[5];
  std::uint8_t rank, element, swizzle, interleave;
};
static_assert(sizeof(tensor_map) <= 128);
inline constexpr std::uint64_t tensor_map_mark = 0x7470616d736f7465;

// Exchanges 16-byte chunks so that columns of a tile lie in different banks. Mode 0: none; 1, 2, 3:
// patterns of 32, 64, 128 bytes.
inline std::uint32_t swizzled(std::uint32_t address, int mode) {
  return mode == 0 ? address : address ^ ((address >> 7 & ((1u << mode) - 1)) << 4);
}

}  // namespace qkv::ptx
