// SPDX-License-Identifier: BSL-1.0
// The graph that a kernel is traced into: which nodes, in which order, with which operands, axes
// and types.
#include "spec.hpp"

namespace {

using namespace spec;
using namespace qkv::core;

constexpr auto self_attention = kernel<"self_attention">(
    [](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
       in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto scores = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<kv>(softmax<kv>(scores), V);
    });

// Arguments come first, in the order of the signature; operands before their users; outputs last.
static_assert([] {
  const graph g = self_attention.trace();
  const op kinds[] = {op::input, op::input,   op::input, op::dot,   op::number,
                      op::div,   op::softmax, op::dot,   op::output};
  if (g.size() != 9) return false;
  for (int i = 0; i < 9; ++i)
    if (g[i].kind != kinds[i]) return false;
  return g[3].a == 0 && g[3].b == 1 && g[5].a == 3 && g[5].b == 4 && g[6].a == 5 && g[7].a == 6 &&
         g[7].b == 2 && g[8].a == 7;
}());

// sqrt of a static size is a number.
static_assert(self_attention.trace()[4].number == 8 && self_attention.trace()[4].type == f32);

// Shapes and the axes that an operation runs over.
static_assert([] {
  const graph g = self_attention.trace();
  return g[3].shape == axes_of<batch, heads, seq, kv>() && g[3].over == axes_of<d_k>() &&
         g[6].over == axes_of<kv>() && g[7].shape == axes_of<batch, heads, seq, d_v>() &&
         g[8].shape == axes_of<batch, heads, seq, d_v>() && g[4].shape.empty();
}());

// Labels: of arguments, outputs and let only.
static_assert(self_attention.trace()[0].label == "Q" && self_attention.trace()[8].label == "O" &&
              self_attention.trace()[3].label.empty());

// The signature is known without tracing.
static_assert(self_attention.name == "self_attention" && self_attention.arguments.size() == 3 &&
              self_attention.outputs.size() == 1);
static_assert(self_attention.arguments[1].name == "K" &&
              self_attention.arguments[1].what == role::in &&
              self_attention.arguments[1].type == f32 &&
              self_attention.arguments[1].shape == axes_of<batch, heads, kv, d_k>());
static_assert(self_attention.outputs[0].name == "O" &&
              self_attention.outputs[0].what == role::out &&
              self_attention.outputs[0].shape == axes_of<batch, heads, seq, d_v>());

// An alias knows whose size it shares, also of an alias.
constexpr alias<"kv2", kv> kv2;
static_assert(data_of<kv>->same_as == data_of<seq> && data_of<kv2>->same_as == data_of<seq> &&
              data_of<seq>->same_as == nullptr);

// A step used twice is one node; let names it once; plain adds none.
constexpr auto shared =
    kernel<"shared">([](in<"X", batch, seq, d_model> X)
                         -> outs<out<"Y", batch, seq, d_model>, out<"Z", batch, seq, d_model>> {
      auto e = let<"second">(let<"first">(exp(X)));
      auto same = let<"x">(X);
      return {plain(e) * same, e};
    });
static_assert([] {
  const graph g = shared.trace();
  return g.size() == 5 && g[0].label == "X" && g[1].kind == op::exp && g[1].label == "first" &&
         g[2].a == 1 && g[2].b == 0 && g[3].kind == op::output && g[3].label == "Y" &&
         g[3].a == 2 && g[4].label == "Z" && g[4].a == 1;
}());

// Positions join the kernel where they meet it.
constexpr auto positions = kernel<"positions">(
    [](in<"S", batch, seq, kv> S, in<"length", i32, batch> length) -> out<"M", b8, batch, seq, kv> {
      return index(kv) <= index(seq) + size(kv) - size(seq) and index(kv) < length and S > 0.f;
    });
static_assert([] {
  const graph g = positions.trace();
  const int index = g.count(op::index), size = g.count(op::size);
  for (const node &n : g)
    if ((n.kind == op::index || n.kind == op::size) &&
        (n.type != i32 || n.over.n != 1 || n.shape.n != (n.kind == op::index)))
      return false;
  return index == 3 && size == 2 && g.count(op::and_) == 2 && g[g.size() - 1].type == b8;
}());

// sqrt of a run-time size: size, cast, sqrt.
constexpr auto scaled =
    kernel<"scaled">([](in<"X", batch, seq> X) -> out<"Y", batch, seq> { return X / sqrt(seq); });
static_assert([] {
  const graph g = scaled.trace();
  return g[1].kind == op::size && g[1].type == i32 && g[2].kind == op::cast && g[2].type == f32 &&
         g[2].a == 1 && g[3].kind == op::sqrt && g[3].a == 2 && g[4].kind == op::div &&
         g[4].a == 0 && g[4].b == 3;
}());

// Views name both their old and their new axes.
constexpr auto views =
    kernel<"views">([](in<"X", batch, seq, d_model> X) -> out<"Y", batch, mem, d_model, group> {
      return broadcast<group>(
          rename<seq, mem>(merge<d_model, heads, d_k>(split<d_model, heads, d_k>(X))));
    });
static_assert([] {
  const graph g = views.trace();
  return g[1].kind == op::split && g[1].over == axes_of<d_model, heads, d_k>() &&
         g[1].shape == axes_of<batch, seq, heads, d_k>() && g[2].kind == op::merge &&
         g[2].over == axes_of<d_model, heads, d_k>() &&
         g[2].shape == axes_of<batch, seq, d_model>() && g[3].kind == op::rename &&
         g[3].over == axes_of<seq, mem>() && g[4].kind == op::broadcast &&
         g[4].over == axes_of<group>();
}());

// where: condition, then both values. mask: scores, then keep. Numbers on the left come first.
constexpr auto choice = kernel<"choice">(
    [](in<"S", batch, seq, kv> S, in<"keep", b8, batch, kv> keep) -> out<"Y", batch, seq, kv> {
      return mask(where(keep, 1 - S, S), keep);
    });
static_assert([] {
  const graph g = choice.trace();
  return g[2].kind == op::number && g[2].type == f32 && g[3].kind == op::sub && g[3].a == 2 &&
         g[3].b == 0 && g[4].kind == op::where && g[4].a == 1 && g[4].b == 3 && g[4].c == 0 &&
         g[5].kind == op::mask && g[5].a == 4 && g[5].b == 1;
}());

// A result of another type is cast.
constexpr auto counted = kernel<"counted">(
    [](in<"keep", b8, batch, kv> keep) -> out<"n", batch> { return sum<kv>(keep); });
static_assert([] {
  const graph g = counted.trace();
  return g[1].kind == op::sum && g[1].type == i32 && g[2].kind == op::cast && g[2].type == f32 &&
         g[3].kind == op::output && g[3].type == f32;
}());

}  // namespace
