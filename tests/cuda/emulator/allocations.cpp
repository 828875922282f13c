// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/allocations.hpp"

namespace qkv::ptx {

void allocations::add(std::uint64_t address, std::uint64_t bytes) {
  from_to_[address] = address + bytes;
  in_use_ += bytes;
}

bool allocations::remove(std::uint64_t address) {
  const auto it = from_to_.find(address);
  if (it == from_to_.end()) return false;
  in_use_ -= it->second - it->first;
  from_to_.erase(it);
  last_from_ = 1, last_to_ = 0;
  return true;
}

bool allocations::look(std::uint64_t address, std::uint64_t bytes) const {
  auto it = from_to_.upper_bound(address);
  if (it == from_to_.begin()) return false;
  --it;
  if (address + bytes > it->second) return false;
  last_from_ = it->first, last_to_ = it->second;
  return true;
}

std::string allocations::nearest(std::uint64_t address) const {
  auto it = from_to_.upper_bound(address);
  if (it == from_to_.begin()) return "before every allocation";
  --it;
  return std::to_string(address - it->first) + " bytes into an allocation of " +
         std::to_string(it->second - it->first);
}

}  // namespace qkv::ptx
