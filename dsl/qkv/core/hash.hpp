// SPDX-License-Identifier: BSL-1.0
#pragma once
// Random numbers of positions: a hash of the seed and the position along each axis. One definition
// for the interpreter and for compiled code, whose words are 32 bits or expressions of them.
#include <array>
#include <cstdint>
#include <vector>

namespace qkv::detail {

// pcg4d: Jarzynski & Olano, "Hash Functions for GPU Rendering", Journal of Computer Graphics
// Techniques 9(3), 2020.
template <class Word>
constexpr std::array<Word, 4> pcg4d(std::array<Word, 4> v) {
  const auto word = [](std::uint32_t x) { return Word(x); };
  for (Word &x : v) x = x * word(1664525) + word(1013904223);
  const auto mix = [&] {
    v[0] = v[0] + v[1] * v[3];
    v[1] = v[1] + v[2] * v[0];
    v[2] = v[2] + v[0] * v[1];
    v[3] = v[3] + v[1] * v[2];
  };
  mix();
  for (Word &x : v) x = x ^ (x >> word(16));
  mix();
  return v;
}

// 24 random bits. Two positions at a time, the innermost ones last, join the state: 64 bits, the
// seed at first.
template <class Word>
constexpr Word random_bits(const std::vector<Word> &position, Word seed) {
  std::array<Word, 4> v = {Word(std::uint32_t{0}), Word(std::uint32_t{0}), seed,
                           Word(std::uint32_t{0})};
  for (std::size_t k = 0; k < position.size(); ++k) {
    const bool last_of_pair = (position.size() - k) % 2 == 1;
    v[last_of_pair ? 1 : 0] = position[k];
    if (!last_of_pair) continue;
    v = pcg4d(v);
  }
  if (position.empty()) v = pcg4d(v);
  return v[3] >> Word(std::uint32_t{8});
}

}  // namespace qkv::detail
