// SPDX-License-Identifier: BSL-1.0
#pragma once
// Text at compile time: names given as template arguments, and the buffer that messages are written
// in.
#if __cplusplus < 202002L
#error "qkv needs C++20: compile with -std=c++20"
#endif

#include <cstddef>
#include <string_view>

// Specs do not need this; code that reads graphs does.
namespace qkv::core {

using sv = std::string_view;

}  // namespace qkv::core

namespace qkv {

// A string literal as template argument. The NUL is kept and written: clang prints only such arrays
// as text.
template <std::size_t N>
struct str {
  char s[N]{};

  consteval str() = default;
  consteval str(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) s[i] = literal[i];
  }
  // Anything other than a name in its place: axis<64>. No literal holds this.
  template <class T>
  consteval str(const T &)
    requires(N == 1)
      : s{1} {}
  constexpr core::sv view() const { return {s, N - 1}; }
  bool operator==(const str &) const = default;
};
template <class T>
str(const T &) -> str<1>;

}  // namespace qkv

namespace qkv::core {

template <str Name>
concept a_name_in_quotes = Name.s[sizeof Name.s - 1] == 0;

}  // namespace qkv::core

namespace qkv::detail {

using namespace core;

constexpr void copy_text(char *to, const char *from, std::size_t n) {
#if defined(__clang__)
  if (n) __builtin_memcpy(to, from, n);  // its constant evaluation is quicker than a loop's
#else
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
#endif
}

// A text as template argument.
template <std::size_t N>
consteval str<N + 1> str_of(sv text) {
  str<N + 1> r;
  copy_text(r.s, text.data(), N);
  r.s[N] = 0;  // written, too: clang prints only such arrays as text
  return r;
}

// Grows up to a fixed size; what does not fit is replaced by "...". A newline ends a line of a
// message.
template <std::size_t Capacity>
struct text_buffer {
  static constexpr std::size_t capacity = Capacity;
  char b[capacity]{};
  std::size_t n = 0;

  constexpr bool empty() const { return n == 0; }
  constexpr sv view() const { return {b, n}; }

  constexpr text_buffer &operator<<(sv v) {
    const char *from = v.data();
    const std::size_t length = v.size();
    const bool whole = n + length <= capacity - 3;
    const std::size_t fits = whole ? length : n < capacity - 3 ? capacity - 3 - n : 0;
    copy_text(b + n, from, fits);
    n += fits;
    if (!whole)
      for (n = capacity - 3; n < capacity; ++n) b[n] = '.';
    return *this;
  }
  constexpr text_buffer &operator<<(char c) { return *this << sv(&c, 1); }
  constexpr text_buffer &operator<<(const char *v) { return *this << sv(v); }
  constexpr text_buffer &operator<<(long v) {
    if (v < 0) return *this << '-' << -v;
    if (v >= 10) *this << v / 10;
    return *this << char('0' + v % 10);
  }
  template <std::size_t N>
  constexpr text_buffer &operator<<(const text_buffer<N> &v) {
    return *this << v.view();
  }
};
using text = text_buffer<1200>;
using label_text = text_buffer<160>;  // compilers evaluate short ones faster

}  // namespace qkv::detail
