// SPDX-License-Identifier: BSL-1.0
#pragma once
// Errors of a wrong spec: a call that does not fit returns the never-defined class
// shape_error<text...>, so the compiler's one error is on the user's line and quotes the text.
#include <type_traits>
#include <utility>

#include <qkv/core/text.hpp>

namespace qkv {

template <str... Why>
struct shape_error;  // <== the shapes do not fit; the quoted text above says why

namespace detail {

template <class T>
inline constexpr bool is_error = false;
template <str... Why>
inline constexpr bool is_error<shape_error<Why...>> = true;
template <class T>
concept an_error = is_error<T>;

#if defined(__clang__)
inline constexpr std::size_t piece_max =
    36;  // clang cuts a printed array there (APValue.cpp, MaxN)
#else
inline constexpr std::size_t piece_max = 400;
#endif

struct pieces {
  static constexpr std::size_t capacity = 64;
  std::size_t from[capacity]{}, length[capacity]{};
  bool goes_on[capacity]{};  // cut within a word: ends in ~
  std::size_t n = 0;
};

// The lines of a message, each wrapped at blanks where it is longer than a compiler prints.
constexpr pieces cut_up(const text &t) {
  pieces p;
  std::size_t i = 0;
  while (i < t.n && p.n < pieces::capacity) {
    std::size_t end = i;
    while (end < t.n && t.b[end] != '\n') ++end;
    std::size_t stop = end;
    if (end - i > piece_max) {
      stop = i + piece_max;
      while (stop > i && t.b[stop] != ' ') --stop;
      if (stop == i) {
        stop = i + piece_max - 1;
        p.goes_on[p.n] = true;
      }
    }
    p.from[p.n] = i;
    p.length[p.n++] = stop - i;
    for (i = stop; i < t.n && (t.b[i] == ' ' || t.b[i] == '\n');) ++i;
  }
  return p;
}

// Check::why() gives the text of the error, empty when there is none.
template <class Check>
struct explain {
  static constexpr text t = Check::why();
  static constexpr pieces p = cut_up(t);

  template <std::size_t I>
  static consteval auto piece() {
    constexpr std::size_t n = p.length[I];
    str<n + p.goes_on[I] + 1> r;
    for (std::size_t k = 0; k < n; ++k) r.s[k] = t.b[p.from[I] + k];
    if (p.goes_on[I]) r.s[n] = '~';
    r.s[n + p.goes_on[I]] = 0;  // clang looks at written elements only
    return r;
  }
  template <std::size_t... I>
  static auto quote(std::index_sequence<I...>) -> std::type_identity<shape_error<piece<I>()...>>;
  using error = typename decltype(quote(std::make_index_sequence<p.n>{}))::type;
};

template <class Check>
inline constexpr bool passes = Check::why().empty();
// A check that knows without a text whether anything is wrong.
template <class Check>
  requires requires { Check::passes; }
inline constexpr bool passes<Check> = Check::passes;

template <class Check>
  requires(!passes<Check>)
using refusal = typename explain<Check>::error;

}  // namespace detail
}  // namespace qkv
