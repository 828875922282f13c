// SPDX-License-Identifier: BSL-1.0
#pragma once
// The memory that kernels may access, byte by byte.
#include <cstdint>
#include <map>
#include <string>

namespace qkv::ptx {

class allocations {
 public:
  void add(std::uint64_t address, std::uint64_t bytes);
  bool remove(std::uint64_t address);  // false when none starts there
  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    if (address >= last_from_ && address + bytes <= last_to_) return true;
    return look(address, bytes);
  }
  std::uint64_t in_use() const { return in_use_; }
  // Where an address is, for messages: "960 bytes into an allocation of 960".
  std::string nearest(std::uint64_t address) const;

 private:
  bool look(std::uint64_t address, std::uint64_t bytes) const;
  std::map<std::uint64_t, std::uint64_t> from_to_;
  std::uint64_t in_use_ = 0;
  mutable std::uint64_t last_from_ = 1, last_to_ = 0;  // found by the previous search
};

}  // namespace qkv::ptx
