// SPDX-License-Identifier: BSL-1.0
#pragma once
// For the one file that compiles a spec: the generator and the tool of a library share it.
//   std::vector<qkv::codegen::traceable> qkv_specs_my() {
//     return {qkv::codegen::traceable_of<my::mha>("mha")};
//   }
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/gradient/make_program.hpp"
#include "codegen/program/traceable.hpp"

namespace qkv::codegen {

template <class Kernel>
concept is_derived = requires { typename Kernel::of; };
template <const auto &Kernel>
traceable traceable_of(std::string identifier) {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  traceable t{std::move(identifier), [] { return make_program(Kernel); }};
  if constexpr (is_derived<K>) t.source = [] { return make_program(typename K::of()); };
  return t;
}

// True if the identifier of a kernel is its name, or the kernel is derived and has no name of its
// own.
template <const auto &Kernel>
constexpr bool is_named(std::string_view identifier) {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  return K::name == identifier || is_derived<K>;
}

}  // namespace qkv::codegen
