#pragma once
// Rotary positions: pairs of features turned by an angle that grows with the position (Su et al.
// 2021).
#include <qkv/core/trial.hpp>
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

// Pairs is the axis of two; parts are the axes of split in its order.
template <axes Parts, axes Pairs, class X, class Cos, class Sin>
struct rope_check {
  static constexpr text why() {
    trial t;
    const info parts = t("pairs", rule::split{Parts}, of<X>);
    if (!t.why.empty()) return t.why;
    message m;
    if (Pairs[0]->size != 2)
      return m.say("rope: ", Pairs[0]->name, " is ", size_of_axis(Pairs[0]), ", not 2").show(of<X>);
    const info first = {of<X>.label, parts.s.without(Pairs), parts.m, form::tensor};
    for (const info *table : {&of<Cos>, &of<Sin>}) {
      if (sizes_differ(m, {"rope"}, first, *table)) return m;
      if (first.s.contains(table->s)) continue;
      return m
          .say("rope: ", table->label, " varies along ", table->s.without(first.s),
               ", which the pairs of ", of<X>.label, " lack")
          .show(of<X>, *table);
    }
    return m;
  }
};

template <auto Whole, auto A, auto B, auto Pairs, class X, class Cos, class Sin>
inline constexpr bool turns =
    passes<rope_check<axes_of<Whole, A, B>(), axes_of<Pairs>(), X, Cos, Sin>>;
template <auto Whole, auto A, auto B, auto Pairs, class X, class Cos, class Sin>
using turns_not = refusal<rope_check<axes_of<Whole, A, B>(), axes_of<Pairs>(), X, Cos, Sin>>;

template <an_axis auto Pairs, class X, class Cos, class Sin>
constexpr auto turned(X pairs, Cos cos, Sin sin) {
  auto a = take<Pairs>(pairs, 0), b = take<Pairs>(pairs, 1);
  return where(index(Pairs) == 0, a * cos - b * sin, a * sin + b * cos);
}

template <axes Whole, axes Turned, axes Rest, class X>
struct rope_partial_check {
  static constexpr text why() {
    message m;
    const call_name call{"rope_partial", one_axis(Whole[0]).with(Turned).with(Rest)};
    if (!needs_input(m, call, of<X>) && !lacks_axis(m, call, Whole, of<X>) &&
        sum_differs(m, call, Whole[0], Turned[0], Rest[0]))
      m.show(of<X>);
    return m;
  }
};

}  // namespace detail

// Computes: the angle of each position for pair i of P: position * base^(-i / P); of these, cos and
//           sin are the tables of the paper: cos(rope_angle<seq, half>()).
// Shapes:   [position, pair]
// Numerics: f32: at position p off by p * 1e-7. Where that matters, give the tables as params.
// Errors:   none here.
template <an_axis auto Position, an_axis auto Pair>
constexpr auto rope_angle(double base = 10000) {
  return index(Position) * pow(base, index(Pair) * -1.0 / size(Pair));
}

// Computes: each pair (a, b) as (a cos - b sin, a sin + b cos), where the pairs are (x[i],
//           x[i + d / 2]): the two halves of the features (GPT-NeoX, Llama in its common form).
// Shapes:   x[.., features] -> as x; features = two * pair; cos and sin carry pair and further axes
//           of x, as param<"cos", seq, pair>; tables of more positions: take<positions>(cos, at)
// Numerics: f32.
// Errors:   as split; two is not 2; tables along an axis that x lacks.
template <an_axis auto Features, an_axis auto Two, an_axis auto Pair, traced X, traced Cos,
          traced Sin>
  requires detail::turns<Features, Two, Pair, Two, X, Cos, Sin>
constexpr auto rope(X x, Cos cos, Sin sin) {
  auto pairs = split<Features, Two, Pair>(x);
  return merge<Features, Two, Pair>(detail::turned<Two>(pairs, cos, sin));
}
template <an_axis auto Features, an_axis auto Two, an_axis auto Pair, traced X, traced Cos,
          traced Sin, class Err = detail::turns_not<Features, Two, Pair, Two, X, Cos, Sin>>
Err rope(X, Cos, Sin);

// Computes: the same where the pairs are neighbours, (x[2 i], x[2 i + 1]): the form of the paper.
// Shapes:   as rope.
// Numerics: as rope.
// Errors:   as rope.
template <an_axis auto Features, an_axis auto Two, an_axis auto Pair, traced X, traced Cos,
          traced Sin>
  requires detail::turns<Features, Pair, Two, Two, X, Cos, Sin>
constexpr auto rope_interleaved(X x, Cos cos, Sin sin) {
  auto pairs = split<Features, Pair, Two>(x);
  return merge<Features, Pair, Two>(detail::turned<Two>(pairs, cos, sin));
}
template <an_axis auto Features, an_axis auto Two, an_axis auto Pair, traced X, traced Cos,
          traced Sin, class Err = detail::turns_not<Features, Pair, Two, Two, X, Cos, Sin>>
Err rope_interleaved(X, Cos, Sin);

// Computes: f of the first features, the others as they are; f is a rope, for example
//           rope_partial<d_k, front, rest>(
//               x, [&](auto y) { return rope<front, two, half>(y, c, s); }).
// Shapes:   x[.., features], f: [.., front] -> [.., front]; features = front + rest
// Numerics: f32.
// Errors:   x lacks the features; sizes that do not add up; those of f.
template <an_axis auto Features, an_axis auto Front, an_axis auto Rest, traced X, class F>
  requires detail::passes<
      detail::rope_partial_check<axes_of<Features>(), axes_of<Front>(), axes_of<Rest>(), X>>
constexpr auto rope_partial(X x, F f) {
  auto turned = f(slice<Features, Front>(x, 0));
  auto rest = slice<Features, Rest>(x, size(Front));
  constexpr dtype type = detail::of<decltype(turned)>.m.type;  // f32 where x has 16 bits
  if constexpr (type == detail::of<X>.m.type)
    return concat<Features>(turned, rest);
  else
    return concat<Features>(turned, cast<type>(rest));
}
template <an_axis auto Features, an_axis auto Front, an_axis auto Rest, traced X, class F,
          class Err = detail::refusal<detail::rope_partial_check<
              axes_of<Features>(), axes_of<Front>(), axes_of<Rest>(), X>>>
Err rope_partial(X, F);

}  // namespace qkv
