// SPDX-License-Identifier: BSL-1.0
#pragma once
// Axes: one identifier for the type, the value and the name in messages.
//   inline constexpr batch_axis<"batch"> batch;
//   inline constexpr axis<"seq"> seq;
//   inline constexpr alias<"kv", seq> kv;
//   inline constexpr axis<"d_k", 64> d_k;
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <qkv/core/text.hpp>

namespace qkv::detail {

// FNV-1a: comparing numbers instead of names keeps compile time low.
constexpr unsigned long key_of(sv name) {
  unsigned long h = 0xcbf29ce484222325;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace qkv::detail

namespace qkv::core {

inline constexpr long runtime = -1;  // the size of an axis that the call decides

// The most positions that an axis has in any call. Compiled code counts them in i32, and rounds
// them up to whole vectors, tiles and blocks of threads, of which none has more than 4096.
inline constexpr std::int64_t longest_axis = (std::int64_t{1} << 31) - 4096;

struct axis_data {
  sv name;
  long size = runtime;
  bool batch = false;                  // may ride along through dot
  const axis_data *same_as = nullptr;  // of an alias: the axis whose size it shares
  bool is_alias = false;
  unsigned long key = detail::key_of(name);
};

// An axis or none. Holds a flag of its own: with sanitizers on, g++ does not know at compile time
// that an address is not null.
struct maybe_axis {
  const axis_data *at = nullptr;
  bool there = false;

  constexpr maybe_axis() = default;
  constexpr maybe_axis(const axis_data *a) : at(a), there(true) {}
  constexpr explicit operator bool() const { return there; }
  constexpr const axis_data *operator->() const { return at; }
};

template <auto Ax>
inline constexpr const axis_data *data_of = &std::remove_cvref_t<decltype(Ax)>::v;

constexpr bool same_name(const axis_data *a, const axis_data *b) { return a->key == b->key; }

// The axis that decides the size.
constexpr const axis_data *root_of(const axis_data *a) { return a->is_alias ? a->same_as : a; }

constexpr bool same_size(const axis_data *a, const axis_data *b) {
  return a->size >= 0 || b->size >= 0 ? a->size == b->size : same_name(root_of(a), root_of(b));
}

// The axis whose size an alias shares; a quoted name or a number has none.
template <class Axis>
struct axis_of_alias {
  static constexpr const auto &v = Axis::v;
  consteval axis_of_alias(const Axis &) {}
};
template <std::size_t N>
struct axis_of_alias<char[N]> {
  consteval axis_of_alias(const char (&)[N]) {}
};

template <std::integral Number>
struct axis_of_alias<Number> {
  consteval axis_of_alias(Number) {}
};

template <axis_of_alias Of>
concept an_axis_without_quotes = requires { Of.v; };

}  // namespace qkv::core

namespace qkv {

template <str Name, long Size = core::runtime>
  requires core::a_name_in_quotes<Name>
struct axis {
  static constexpr core::axis_data v{Name.view(), Size, false};
};

template <str Name, long Size = core::runtime>
  requires core::a_name_in_quotes<Name>
struct batch_axis {
  static constexpr core::axis_data v{Name.view(), Size, true};
};

// Another name for the size of Of, as keys are to queries in self-attention.
template <str Name, core::axis_of_alias Of>
  requires core::a_name_in_quotes<Name> && core::an_axis_without_quotes<Of>
struct alias {
  static constexpr core::axis_data v{Name.view(), Of.v.size, Of.v.batch,
                                     Of.v.is_alias ? Of.v.same_as : &Of.v, true};
};

template <class T>
concept an_axis = requires {
  { std::remove_cvref_t<T>::v } -> std::same_as<const core::axis_data &>;
};

}  // namespace qkv
