// SPDX-License-Identifier: BSL-1.0
// Tracing at run time gives what tracing at compile time gives, on every compiler the same.
#include <string>

#include "spec.hpp"
#include "tests/catch.hpp"

namespace {

using namespace spec;

constexpr auto mha =
    kernel<"mha">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                     param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
                     param<"Wo", heads, d_v, d_model> Wo,
                     param<"bo", d_model> bo) -> out<"Y", batch, seq, d_model> {
      auto M = rename<seq, kv>(X);
      auto scores =
          mask(dot<d_k>(dot<d_model>(X, Wq), dot<d_model>(M, Wk)) / sqrt(d_k), causal<seq, kv>);
      return dot<heads, d_v>(dot<kv>(softmax<kv>(scores), dot<d_model>(M, Wv)), Wo) + bo;
    });

std::string written(const core::graph &g) {
  std::string s;
  for (const core::node &n : g) {
    s += std::string(name_of(n.kind)) + ' ' + std::string(n.label);
    for (int operand : {n.a, n.b, n.c})
      if (operand >= 0) s += ' ' + std::to_string(operand);
    s += " [";
    for (const core::axis_data *a : n.shape) s += std::string(a->name) + ' ';
    s += "]\n";
  }
  return s;
}

}  // namespace

TEST_CASE("a kernel is traced at run time as at compile time") {
  static_assert(mha.trace().size() == 22);
  const core::graph g = mha.trace();
  REQUIRE(g.size() == 22);
  CHECK(written(g) ==
        "in X [batch seq d_model ]\n"
        "param Wq [d_model heads d_k ]\n"
        "param Wk [d_model heads d_k ]\n"
        "param Wv [d_model heads d_v ]\n"
        "param Wo [heads d_v d_model ]\n"
        "param bo [d_model ]\n"
        "dot  0 1 [batch seq heads d_k ]\n"
        "rename  0 [batch kv d_model ]\n"
        "dot  7 2 [batch kv heads d_k ]\n"
        "dot  6 8 [batch seq heads kv ]\n"
        "number  []\n"
        "/  9 10 [batch seq heads kv ]\n"
        "index  [kv ]\n"
        "index  [seq ]\n"
        "<=  12 13 [kv seq ]\n"
        "mask  11 14 [batch seq heads kv ]\n"
        "softmax  15 [batch seq heads kv ]\n"
        "dot  7 3 [batch kv heads d_v ]\n"
        "dot  16 17 [batch seq heads d_v ]\n"
        "dot  18 4 [batch seq d_model ]\n"
        "+  19 5 [batch seq d_model ]\n"
        "out Y 20 [batch seq d_model ]\n");
}

TEST_CASE("each trace is a graph of its own") {
  const core::graph first = mha.trace(), second = mha.trace();
  CHECK(written(first) == written(second));
  CHECK(first.nodes.data() != second.nodes.data());
}
