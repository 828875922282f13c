// SPDX-License-Identifier: BSL-1.0
#pragma once
// Rotary positions: pairs of features turned by an angle that grows with the position (Su et al.
// 2021).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/concat.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/logic.hpp>
#include <qkv/ops/merge.hpp>
#include <qkv/ops/slice.hpp>
#include <qkv/ops/where.hpp>

namespace qkv {
namespace detail {
namespace rule {

// The pairs of x, and tables of the angle of each.
struct rope {
  axes two{};
  constexpr text check(const info &pairs, const info &x, const info &cos, const info &sin) const {
    message m;
    if (two[0]->size != 2) {
      m.say("rope: ", two[0]->name, " is ", size_of_axis(two[0]), ", not 2");
      for (const axis_data *a : pairs.s.without(x.s))
        if (a->size == 2) m.say("did you mean rope<.., ", a->name, ", ", two[0]->name, ">?");
      return m.show(x);
    }
    if (is_rotated(x))
      return m.say("rope: ", x.label, " is rotated by its positions already")
          .say("did you mean to leave one out? if it is meant, plain(..)")
          .show(x);
    if (sin.label.starts_with("-sin("))
      return m.say("rope: ", sin.label, " turns ", x.label, " the other way")
          .say("leave the minus out, for queries and keys alike; if it is meant, let<..>(..)");
    const bool first = cos.label.starts_with("sin(");
    if (first || sin.label.starts_with("cos("))
      return m
          .say("rope: ", first ? cos.label : sin.label, " is in the place of the ",
               first ? "cosine" : "sine")
          .say("the cosine comes first, then the sine; if it is meant, let<..>(..)");
    const info pair = {x.label, pairs.s.without(two), pairs.m, form::tensor};
    for (const info *table : {&cos, &sin}) {
      if (sizes_differ(m, {"rope"}, pair, *table)) return m;
      if (pair.s.contains(table->s)) continue;
      const axes extra = table->s.without(pair.s);
      m.say("rope: ", table->label, " varies along ", extra, ", which the pairs of ", x.label,
            " lack");
      for (const axis_data *a : pair.s.non_batch())
        if (extra.n == 1 && same_name(root_of(a), root_of(extra[0])))
          m.say("did you mean rename<", extra, ", ", a->name, ">(", table->label, ")?");
      return m.show(x, *table);
    }
    return m;
  }
};

struct rope_partial {
  axes over{};  // the features, those that are turned, the others
  constexpr text check(const info &x) const {
    message m;
    const call_name call{"rope_partial", over};
    if (!needs_input(m, call, x) && !lacks_axis(m, call, one_axis(over[0]), x) &&
        sum_differs(m, call, over[0], over[1], over[over.n - 1]))
      m.show(x);
    return m;
  }
};

}  // namespace rule

template <an_axis auto Two, class X, class Pairs, class Cos, class Sin>
constexpr auto turned(X x, Pairs unturned, Cos cos, Sin sin) {
  auto pairs = expect<rule::rope{axes_of<Two>()}>(unturned, x, cos, sin);
  auto a = take<Two>(pairs, 0), b = take<Two>(pairs, 1);
  return where(index(Two) == 0, a * cos - b * sin, a * sin + b * cos);
}

constexpr marks from_0(marks m, const axis_data *position) {
  m.done = {treatment::counted, nullptr, position};
  return m;
}
constexpr marks rotated(marks m, bool halves, const axis_data *features, const info &cos) {
  m.done = {halves ? treatment::rotated : treatment::rotated_2, features};
  if (is_counted(cos))
    m.done = {halves ? treatment::turned : treatment::turned_2, features, cos.m.done.from};
  return m;
}
// x, known to be rotated.
template <an_axis auto Features, bool Halves, class Cos, class X>
constexpr auto as_rotated(const X &x) {
  return marked<own_label<of<X>>, rotated(of<X>.m, Halves, data_of<Features>, of<Cos>)>(x);
}

template <an_axis auto Position, an_axis auto Pair>
struct exchanged_angle {
  static constexpr const axis_data &position = *data_of<Position>, &pair = *data_of<Pair>;
  static constexpr bool of_heads = position.batch;
  static constexpr bool exchanged = (position.size >= 0 && pair.size < 0) || of_heads;
  static constexpr bool passes = !exchanged;
  static constexpr text why() {
    message m;
    if (of_heads)
      return m.say("rope_angle: ", position.name, " is a batch axis, which has no positions")
          .say("did you mean the axis of the tokens, as rope_angle<seq, ", pair.name, ">()?");
    return m.say("rope_angle: ", pair.name, " has no static size, as pairs of features have")
        .say("did you mean rope_angle<", pair.name, ", ", position.name, ">()?");
  }
};

}  // namespace detail

// Computes: the angle of each position for pair i of P: position * base^(-i / P); of these, cos and
//           sin are the tables of the paper: cos(rope_angle<seq, half>()).
// Shapes:   [position, pair]
// Numerics: f32: at position p off by p * 1e-7. Where that matters, give the tables as params.
// Errors:   axes exchanged: a pair whose size the call decides, of positions whose size is static;
//           positions along a batch axis.
template <an_axis auto Position, an_axis auto Pair>
  requires(!detail::exchanged_angle<Position, Pair>::exchanged)
constexpr auto rope_angle(double base = 10000) {
  auto angle = index(Position) * pow(base, index(Pair) * -1.0 / size(Pair));
  constexpr detail::marks m =
      detail::from_0(detail::of<decltype(angle)>.m, detail::data_of<Position>);
  return detail::marked<detail::own_label<detail::of<decltype(angle)>>, m>(angle);
}
template <an_axis auto Position, an_axis auto Pair, class... T,
          class Err = detail::refusal<detail::exchanged_angle<Position, Pair>>>
  requires(detail::exchanged_angle<Position, Pair>::exchanged)
Err rope_angle(T...);

// Computes: each pair (a, b) as (a cos - b sin, a sin + b cos), where the pairs are (x[i],
//           x[i + d / 2]): the two halves of the features (GPT-NeoX, Llama in its common form).
// Shapes:   x[.., features] -> as x; features = two * pair; cos and sin carry pair and further axes
//           of x, as param<"cos", seq, pair>; tables of more positions: take<positions>(cos, at)
// Numerics: f32.
// Errors:   as split; two is not 2; tables along an axis that x lacks; cosine and sine exchanged;
//           x that is rotated already.
template <an_axis auto Features, an_axis auto Two, an_axis auto Pair>
inline constexpr auto rope =
    formula<"rope(x, cos, sin)">([](traced auto x, traced auto cos, traced auto sin) {
      auto pairs = split<Features, Two, Pair>(x);
      return detail::as_rotated<Features, true, decltype(cos)>(
          merge<Features, Two, Pair>(detail::turned<Two>(x, pairs, cos, sin)));
    });

// Computes: the same where the pairs are neighbours, (x[2 i], x[2 i + 1]): the form of the paper.
// Shapes:   as rope.
// Numerics: as rope.
// Errors:   as rope.
template <an_axis auto Features, an_axis auto Two, an_axis auto Pair>
inline constexpr auto rope_interleaved =
    formula<"rope_interleaved(x, cos, sin)">([](traced auto x, traced auto cos, traced auto sin) {
      auto pairs = split<Features, Pair, Two>(x);
      return detail::as_rotated<Features, false, decltype(cos)>(
          merge<Features, Pair, Two>(detail::turned<Two>(x, pairs, cos, sin)));
    });

// Computes: f of the first features, the others as they are; f is a rope, for example
//           rope_partial<d_k, front, rest>(
//               x, [&](auto y) { return rope<front, two, half>(y, c, s); }).
// Shapes:   x[.., features], f: [.., front] -> [.., front]; features = front + rest
// Numerics: f32.
// Errors:   x lacks the features; sizes that do not add up; those of f.
template <an_axis auto Features, an_axis auto Front, an_axis auto Rest>
inline constexpr auto rope_partial = formula<"rope_partial(x, f)">([](traced auto x, auto f) {
  auto whole =
      detail::expect<detail::rule::rope_partial{core::axes_of<Features, Front, Rest>()}>(x);
  auto turned = f(slice<Features, Front>(whole, 0));
  auto rest = slice<Features, Rest>(whole, size(Front));
  constexpr dtype type = detail::of<decltype(turned)>.m.type;  // f32 where x has 16 bits
  if constexpr (type == detail::of<decltype(rest)>.m.type)
    return concat<Features, Front, Rest>(turned, rest);
  else
    return concat<Features, Front, Rest>(turned, cast<type>(rest));
});

}  // namespace qkv
