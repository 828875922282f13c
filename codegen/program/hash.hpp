// SPDX-License-Identifier: BSL-1.0
#pragma once
// FNV-1a over numbers and texts, in a fixed order of bytes: the same on every machine.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace qkv::codegen {

class hash {
 public:
  void add(std::uint64_t x) {
    for (int k = 0; k < 8; ++k) byte(static_cast<unsigned char>(x >> (8 * k)));
  }
  void add(std::int64_t x) { add(static_cast<std::uint64_t>(x)); }
  void add(int x) { add(static_cast<std::int64_t>(x)); }
  void add(double x) { add(std::bit_cast<std::uint64_t>(x)); }
  void add(const std::string &s) {
    add(static_cast<std::uint64_t>(s.size()));
    for (char c : s) byte(static_cast<unsigned char>(c));
  }
  void add(const std::vector<int> &v) {
    add(static_cast<std::uint64_t>(v.size()));
    for (int x : v) add(x);
  }
  std::uint64_t value() const { return state_; }

 private:
  void byte(unsigned char c) { state_ = (state_ ^ c) * 0x100000001b3u; }
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace qkv::codegen
