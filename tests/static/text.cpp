// SPDX-License-Identifier: BSL-1.0
// How messages are written, cut for printing, and limited.
#include "spec.hpp"

namespace {

using qkv::detail::cut_up;
using qkv::detail::pieces;
using qkv::detail::text;

template <class... T>
constexpr text written(const T &...words) {
  text t;
  (t << ... << words);
  return t;
}

static_assert(written("d_k is ", 64L, ", not ", -7L, '!').view() == "d_k is 64, not -7!");
static_assert(written(0L, 10L, 100L).view() == "010100");

// Text that does not fit ends in "...": no message, however long, is an error of the library's own.
constexpr text long_message(int words) {
  text t;
  for (int i = 0; i < words; ++i) t << "word ";
  return t;
}
static_assert(long_message(1000).view().size() == text::capacity &&
              long_message(1000).view().ends_with("..."));
static_assert(long_message(2).view() == "word word ");

// Lines become pieces; a piece longer than the compiler prints is cut at a blank, else within the
// word.
static_assert(cut_up(written("one\ntwo\nthree")).n == 3);
constexpr text words = long_message(100);
constexpr text one_word = [] {
  text t;
  for (int i = 0; i < 90; ++i) t << "abcdefghij";
  return t;
}();
static_assert([] {
  const pieces p = cut_up(words);
  for (std::size_t i = 0; i < p.n; ++i)
    if (p.length[i] > qkv::detail::piece_max || p.goes_on[i]) return false;
  return p.n > 1;
}());
static_assert([] {
  const pieces p = cut_up(one_word);
  for (std::size_t i = 0; i + 1 < p.n; ++i)
    if (p.length[i] + 1 != qkv::detail::piece_max || !p.goes_on[i]) return false;
  return p.n > 1 && !p.goes_on[p.n - 1];
}());

// Joined again they are the original text.
struct wide_check {
  static constexpr text why() { return written("a line\n", one_word, "\nlast"); }
};
static_assert(
    qkv::says<qkv::detail::refusal<wide_check>>(written("a line ", one_word, " last").view()));
static_assert(qkv::refused<qkv::detail::refusal<wide_check>> && !qkv::refused<int>);

}  // namespace
