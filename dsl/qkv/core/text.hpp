#pragma once
// Text at compile time: names given as template arguments, and the buffer that messages are written
// in.
#include <cstddef>
#include <string_view>

namespace qkv {

using sv = std::string_view;

// A string literal as template argument. The NUL is kept and written: clang prints only such arrays
// as text.
template <std::size_t N>
struct str {
  char s[N]{};

  consteval str() = default;
  consteval str(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) s[i] = literal[i];
  }
  constexpr sv view() const { return {s, N - 1}; }
  bool operator==(const str &) const = default;
};

namespace detail {

// Grows up to a fixed size; what does not fit is replaced by "...". A newline ends a line of a
// message.
struct text {
  static constexpr std::size_t capacity = 1200;
  char b[capacity]{};
  std::size_t n = 0;

  constexpr bool empty() const { return n == 0; }
  constexpr sv view() const { return {b, n}; }

  constexpr text &operator<<(sv v) {
    const char *from = v.data();
    const std::size_t length = v.size();
    const bool whole = n + length <= capacity - 3;
    const std::size_t fits = whole ? length : n < capacity - 3 ? capacity - 3 - n : 0;
    for (std::size_t i = 0; i < fits; ++i) b[n + i] = from[i];
    n += fits;
    if (!whole)
      for (n = capacity - 3; n < capacity; ++n) b[n] = '.';
    return *this;
  }
  constexpr text &operator<<(char c) { return *this << sv(&c, 1); }
  constexpr text &operator<<(const char *v) { return *this << sv(v); }
  constexpr text &operator<<(long v) {
    if (v < 0) return *this << '-' << -v;
    if (v >= 10) *this << v / 10;
    return *this << char('0' + v % 10);
  }
  constexpr text &operator<<(const text &v) { return *this << v.view(); }
};

}  // namespace detail
}  // namespace qkv
