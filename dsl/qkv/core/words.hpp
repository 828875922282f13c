// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shape and marks of a step as text. On clang they are part of its type, so that editors show them
// beside each variable.
#include <qkv/core/label.hpp>
#include <qkv/core/message.hpp>
#include <qkv/core/shape_error.hpp>

namespace qkv::detail {

// Calls `say` with the words of each mark.
template <class Say>
constexpr void say_marks(const marks &k, Say say) {
  const auto along = [&](const char *what, const axes &s) {
    if (s.n) say(what, " ", s);
  };
  if (k.given) say("an input");
  if (k.param) say("made of params alone");
  along("weights over", k.weights);
  along("contracted over", k.contracted);
  along("reduced over", k.statistic);
  along("masked along", k.hidden.masked);
  along("0 where a mask was, along", k.hidden.zeroed);
  along("a mask is constant along", k.lacks.mask);
  along("a term is constant along", k.lacks.bias);
  if (k.sides.query) say("queries ", k.sides.query->name, ", keys ", k.sides.key->name);
  if (k.sides.unaligned) say("their alignment is unknown");
  if (k.scale.by) say("divided by sqrt(", k.scale.by->name, ")");
  if (k.split.first) say("split as ", k.split.first->name, ", ", k.split.second->name);
  if (k.hidden.dropped) say("with dropout");
}

#if defined(__clang__)
using line = text_buffer<piece_max>;

// [batch, heads=8, seq, kv]
template <axes Shape, dtype Type>
inline constexpr line shape_line = [] {
  line t;
  put_shape(t, Shape);
  return Type == f32 ? t : t << " " << name_of(Type);
}();
// weights over kv, masked along kv
struct comma_separated {
  line &t;
  template <class... Part>
  constexpr void operator()(const Part &...part) const {
    if (!t.empty()) t << ", ";
    ((t << part), ...);
  }
};
template <marks Meaning>
inline constexpr line marks_line = [] {
  line t;
  say_marks(Meaning, comma_separated{t});
  return t;
}();

template <const info &Facts>
using words_of = words<as_str<shape_line<Facts.s, Facts.m.type>>, as_str<marks_line<Facts.m>>>;
#else
template <const info &>
using words_of = words<>;  // editors use clang; g++ compiles faster without
#endif

template <const info &Facts>
using expr_of = expr<words_of<Facts>, Facts>;

// These make a step or an index expression. Their result is spelled out: for the alias expr_of,
// editors would show the alias and not the words.
template <const info &Facts, class Words = words_of<Facts>>
constexpr expr<Words, Facts> expr_with(step s) {
  return {s};
}
template <const info &Facts, std::size_t N, class Words = words_of<Facts>>
constexpr index_expr<Words, Facts, N> index_expr_with(const node (&nodes)[N]) {
  index_expr<Words, Facts, N> r{};
  for (std::size_t i = 0; i < N; ++i) r.nodes[i] = nodes[i];
  return r;
}

}  // namespace qkv::detail
