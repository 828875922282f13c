// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over tokens that several machines share: how the sums of two machines join. The name of a
// tensor that holds one begins with it, as in sum12: codegen/ring writes these names, runtime/ring
// reads them.
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace qkv::core {

enum class joining { sum, most, least, logsumexp };

inline constexpr std::array<std::pair<joining, std::string_view>, 4> joining_prefixes{
    {{joining::sum, "sum"},
     {joining::most, "most"},
     {joining::least, "least"},
     {joining::logsumexp, "lse"}}};

constexpr std::string_view prefix_of(joining how) {
  for (const auto &[known, prefix] : joining_prefixes)
    if (known == how) return prefix;
  return {};
}

// How the sum of this name joins others; nothing for other names.
constexpr std::optional<joining> joining_of(std::string_view name) {
  for (const auto &[how, prefix] : joining_prefixes)
    if (name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix &&
        name.find_first_not_of("0123456789", prefix.size()) == name.npos)
      return how;
  return std::nullopt;
}

// The sum over no token.
constexpr double beginning_of(joining how) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (how == joining::sum) return 0;
  return how == joining::least ? infinity : -infinity;
}

}  // namespace qkv::core
