// SPDX-License-Identifier: BSL-1.0
#pragma once
// Random numbers that are the same on every machine (splitmix64, Steele, Lea, Flood 2014).
#include <cstdint>

namespace my {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A whole number of [0, n); n is far below 2^64, so each is as likely as the others.
  std::uint64_t below(std::uint64_t n) { return bits() % n; }
  // Of [0, 1), with all the bits that a float has.
  float uniform() { return static_cast<float>(bits() >> 40) / (1 << 24); }

 private:
  std::uint64_t state_;
};

}  // namespace my
