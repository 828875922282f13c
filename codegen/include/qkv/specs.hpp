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
#include "codegen/ring/shard.hpp"

namespace qkv::codegen {

template <class Kernel>
concept is_derived = requires { typename Kernel::of; };
template <const auto &Kernel>
traceable traceable_of(std::string identifier) {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  traceable t{std::move(identifier), [] { return make_program(Kernel); }};
  if constexpr (is_derived<K>) {
    t.source = [] { return make_program(typename K::of()); };
    t.is_gradient = true;
  }
  return t;
}

// One of the kernels for machines that share tokens: number n of own0, hop0, own1, hop1 .. for so
// many rounds.
template <const auto &Kernel>
traceable part_of(std::string identifier, std::string query, std::string key, int rounds, int n) {
  const auto whole = traceable_of<Kernel>(std::move(identifier));
  traceable t{whole.identifier, [=] { return part_of(whole.trace(), query, key, rounds, n); }};
  t.source = whole.trace;
  return t;
}

// The kernel of a gradient with the steps that it saves as further results; the gradient with them
// as further arguments.
template <const auto &Gradient>
traceable saving_of(std::string identifier) {
  traceable t{std::move(identifier), [] { return make_saving(Gradient).forward; }};
  t.source = traceable_of<Gradient>("").source;
  return t;
}
template <const auto &Gradient>
traceable saved_of(std::string identifier) {
  traceable t{std::move(identifier), [] { return make_saving(Gradient).backward; }};
  t.source = traceable_of<Gradient>("").source;
  return t;
}

// True of what KERNELS of qkv_add_kernels may name.
template <const auto &Kernel>
consteval bool is_kernel() {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  return qkv::detail::is_kernel<K> || is_derived<K>;
}
template <class>
consteval bool is_kernel() {
  return false;
}

// True of what SAVED may name: a gradient without the results of its kernel.
template <const auto &Gradient>
consteval bool saves_steps() {
  return requires { make_saving(Gradient); };
}
template <class>
consteval bool saves_steps() {
  return false;
}

// True if the identifier of a kernel is its name, or the kernel is derived and has no name of its
// own.
template <const auto &Kernel>
constexpr bool is_named(std::string_view identifier) {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  return K::name == identifier || is_derived<K>;
}

}  // namespace qkv::codegen
