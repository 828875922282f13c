// SPDX-License-Identifier: BSL-1.0
// From a kernel to a program: axes, aliases, dead steps, conditions, fingerprint, text.
#include <qkv/dsl.hpp>

#include "codegen/program/from_graph.hpp"
#include "codegen/program/sizes.hpp"
#include "codegen/program/text.hpp"
#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {
namespace {

using codegen::make_program;
using codegen::program;

constexpr batch_axis<"batch"> batch;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"mem"> mem;
constexpr axis<"wide"> wide;
constexpr axis<"d", 8> d;
constexpr batch_axis<"heads", 2> heads;

constexpr auto causal = kernel<"causal">(
    [](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K) -> out<"W", batch, seq, kv> {
      [[maybe_unused]] auto unused = exp(Q);
      return softmax<kv>(mask(let<"scores">(dot<d>(Q, K) / sqrt(d)), index(kv) <= index(seq)));
    });

constexpr auto unrelated = kernel<"unrelated">([
](in<"X", seq, d> X, in<"Y", mem, d> Y) -> out<"O", seq, d> { return X + rename<mem, seq>(Y); });

constexpr auto parted = kernel<"parted">(
    [](in<"X", seq, wide> X) -> out<"O", heads, seq, mem> { return split<wide, heads, mem>(X); });

constexpr auto scaled = kernel<"scaled">([](in<"X", seq> X) -> out<"O", seq> { return X * 2; });

}  // namespace

TEST_CASE("program: axes in the order of the signature, aliases know their axis") {
  const program p = make_program(causal);
  std::vector<std::string> names;
  for (const codegen::axis &a : p.axes) names.push_back(a.name);
  CHECK(names == std::vector<std::string>{"batch", "seq", "d", "kv"});
  CHECK(p.axes[p.axes[3].root].name == "seq");
  CHECK(p.axes[0].batch);
  CHECK(p.axes[2].size == 8);
  CHECK(p.arguments.size() == 2);
  CHECK(p.outputs.size() == 1);
  CHECK(p.conditions.empty());
}

TEST_CASE("program: steps that no output needs are left out, arguments never") {
  const program p = make_program(causal);
  for (const codegen::node &n : p.nodes) CHECK(n.kind != core::op::exp);
  constexpr auto ignores =
      kernel<"ignores">([](in<"X", seq> X, in<"Y", mem>) -> out<"O", seq> { return X; });
  CHECK(make_program(ignores).arguments.size() == 2);
  for (codegen::node_id k = 0; k < static_cast<codegen::node_id>(p.nodes.size()); ++k)
    for (codegen::node_id operand : p[k].in) CHECK(operand < k);
}

TEST_CASE("program: what only the call can decide is a condition") {
  const program p = make_program(unrelated);
  REQUIRE(p.conditions.size() == 1);
  CHECK(p.conditions[0].text == "rename<mem, seq>");
  CHECK_THROWS_WITH(codegen::all_sizes(p, {{"seq", 3}, {"mem", 4}}),
                    "unrelated: rename<mem, seq>: seq is 3 but mem is 4");
  CHECK(codegen::all_sizes(p, {{"seq", 3}})[2] == 3);

  const program q = make_program(parted);
  REQUIRE(q.conditions.size() == 1);
  CHECK(q.conditions[0].text == "split<wide, heads, mem>");
  const auto size = codegen::all_sizes(q, {{"seq", 1}, {"wide", 10}});
  CHECK(size[q.conditions[0].c] == 5);
  CHECK_THROWS_WITH(codegen::all_sizes(q, {{"seq", 1}, {"wide", 9}}),
                    "parted: the size of axis mem is not known");
  CHECK_THROWS_WITH(codegen::all_sizes(q, {{"wide", 9}, {"mem", 4}}),
                    "parted: split<wide, heads, mem>: wide is 9 but heads * mem is 2 * 4");
}

TEST_CASE("sizes: an axis that nothing decides is refused when the kernel is built") {
  constexpr auto nowhere =
      kernel<"nowhere">([](in<"X", d> X) -> out<"Y", d> { return sum<seq>(broadcast<seq>(X)); });
  CHECK_THROWS_WITH(codegen::require_sizes(make_program(nowhere)),
                    "nowhere: axis seq has no size: no argument carries it");
  constexpr auto in_result =
      kernel<"in_result">([](in<"X", d> X) -> out<"Y", seq, d> { return broadcast<seq>(X) * 2; });
  CHECK_NOTHROW(codegen::require_sizes(make_program(in_result)));
  for (const program &p : {make_program(causal), make_program(unrelated), make_program(parted)})
    CHECK_NOTHROW(codegen::require_sizes(p));
}

TEST_CASE("sizes: aliases agree, static sizes hold, negative ones are refused") {
  const program p = make_program(causal);
  CHECK(codegen::all_sizes(p, {{"batch", 1}, {"kv", 5}})[1] == 5);
  CHECK_THROWS_WITH(codegen::all_sizes(p, {{"seq", 4}, {"kv", 5}}), "causal: axis kv is 4, not 5");
  CHECK_THROWS_WITH(codegen::all_sizes(p, {{"d", 9}}), "causal: axis d is 8, not 9");
  CHECK_THROWS_WITH(codegen::all_sizes(p, {{"seq", -4}}), "causal: axis seq cannot be -4");
  CHECK_THROWS_WITH(codegen::all_sizes(p, {{"seq", 4}}),
                    "causal: the size of axis batch is not known");
}

TEST_CASE("interpret: wrong arguments are told in axis names") {
  const program p = make_program(causal);
  arrays a = random_arguments(p, {{"batch", 1}, {"seq", 3}}, 1);
  a["K"] = {{1, 4, 8}, std::vector<double>(32, 1.0)};
  CHECK_THROWS_WITH(codegen::interpret(p, a), "causal: axis kv is 3, not 4");
  a.erase("K");
  CHECK_THROWS_WITH(codegen::interpret(p, a), "causal: K is missing");
}

TEST_CASE("fingerprint: the same for the same kernel, another for another") {
  program p = make_program(causal);
  CHECK(codegen::fingerprint(p) == codegen::fingerprint(make_program(causal)));
  const auto original = codegen::fingerprint(p);
  for (codegen::node &n : p.nodes)
    if (n.name == "scores") n.name = "other";
  CHECK(codegen::fingerprint(p) == original);  // the name of a step changes nothing
  p.nodes.back().name = "other";
  CHECK(codegen::fingerprint(p) != original);
  p = make_program(causal);
  p.axes[2].size = 9;
  CHECK(codegen::fingerprint(p) != original);
  // Written into generated libraries: equal on every compiler and machine.
  CHECK(codegen::fingerprint(make_program(scaled)) == 0xfcecd304c2aa61f1);
}

TEST_CASE("text: labels, shapes, signature") {
  const program p = make_program(causal);
  std::vector<std::string> labels;
  for (codegen::node_id k = 0; k < static_cast<codegen::node_id>(p.nodes.size()); ++k)
    labels.push_back(codegen::label_of(p, k));
  const auto has = [&](const char *label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  };
  CHECK(has("scores"));
  CHECK(has("dot(Q, K)"));
  CHECK(has("index(kv) <= index(seq)"));
  CHECK(has("mask(scores, index(kv) <= index(seq))"));
  CHECK(codegen::signature_text(p) ==
        "causal(in Q[batch, seq, d=8], in K[batch, kv, d=8]) -> W[batch, seq, kv]");
  CHECK(codegen::to_text(make_program(unrelated)).find("needs rename<mem, seq>") !=
        std::string::npos);
}

TEST_CASE("program: what a scan sees at one position stays inside its step") {
  constexpr auto leaks = kernel<"leaks">([](in<"X", seq, d> X, in<"S", d> S) -> out<"O", d> {
    detail::expr_of<core::facts<"S", core::axes_of<d>(), core::marks{}>::v> seen;
    (void)scan<seq>(
        S,
        [&](auto s, auto x) {
          seen = {s.g, s.id};
          return s + x;
        },
        X);
    return seen * 2;
  });
  CHECK_THROWS_WITH(make_program(leaks),
                    "leaks: O is made of what a step of scan<seq> sees at one position");
  constexpr auto nested = kernel<"nested">([](in<"X", seq, mem, d> X, in<"S", d> S) -> out<"O", d> {
    return scan<seq>(
               S,
               [](auto s, auto x) {
                 return scan<mem>(s, [](auto t, auto y) { return t + y; }, x).last;
               },
               X)
        .last;
  });
  CHECK_THROWS_WITH(make_program(nested), "nested: scan<mem> is inside a step of scan<seq>");
  constexpr auto twice = kernel<"twice">([](in<"X", seq, d> X, in<"S", d> S) -> out<"O", d> {
    return scan<seq>(
               S,
               [&](auto s, auto x) {
                 return s + scan<seq>(x, [](auto t, auto y) { return t * y; }, X).last;
               },
               X)
        .last;
  });
  CHECK_THROWS_WITH(make_program(twice), "twice: scan<seq> is inside a step of scan<seq>");
}

}  // namespace qkv::testing
