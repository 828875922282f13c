// SPDX-License-Identifier: BSL-1.0
// Names that a spec may take for its axes although it opens qkv.
#include <qkv/dsl.hpp>

using namespace qkv;

inline constexpr batch_axis<"axes"> axes;
inline constexpr axis<"node"> node;
inline constexpr alias<"graph", node> graph;
inline constexpr axis<"op", 64> op;
inline constexpr axis<"text", 32> text;
inline constexpr axis<"marks"> marks;
inline constexpr axis<"relation"> relation;
inline constexpr axis<"role"> role;
inline constexpr axis<"argument"> argument;
inline constexpr axis<"origin"> origin;
inline constexpr axis<"message"> message;
inline constexpr axis<"info"> info;
inline constexpr axis<"rule"> rule;

constexpr auto nodes =
    kernel<"nodes">([](in<"Q", axes, node, op> Q, in<"K", axes, graph, op> K,
                       in<"V", axes, graph, text> V) -> out<"O", axes, node, text> {
      return dot<graph>(softmax<graph>(mask(dot<op>(Q, K) / sqrt(op), causal<node, graph>)), V);
    });
constexpr auto others = kernel<"others">([](in<"A", axes, marks, relation, role> A,
                                            in<"B", axes, argument, origin, message, info, rule> B)
                                             -> outs<out<"a", axes, role>, out<"b", axes, rule>> {
  return {sum<marks, relation>(A), max<argument, origin, message, info>(B)};
});
static_assert(nodes.trace().size() > 0 && others.trace().size() > 0);
