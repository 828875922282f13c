// SPDX-License-Identifier: BSL-1.0
// How numbers of memory lie along an axis, through views and gathers.
#include "codegen/plan/reads_along.hpp"

#include <fmt/format.h>

#include <qkv/dsl.hpp>
#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

namespace {

using namespace qkv;

constexpr axis<"seq"> seq;
constexpr axis<"kv", 48> kv;
constexpr axis<"four", 4> four;
constexpr axis<"groups", 12> groups;
constexpr axis<"d", 16> d;
constexpr axis<"heads", 2> heads;
constexpr axis<"d_head", 8> d_head;
constexpr axis<"few", 6> few;
constexpr axis<"both", 22> both;

// "side by side, apart": what the step that a kernel sums reads along an axis.
std::string reads(const codegen::program &p, const std::string &axis) {
  const codegen::plan made = codegen::plan_of(p);
  for (const codegen::node &n : made.p.nodes)
    for (int a = 0; n.kind == core::op::max_over && a < static_cast<int>(made.p.axes.size()); ++a)
      if (made.p.axes[static_cast<std::size_t>(a)].name == axis) {
        const codegen::reads_along r = codegen::reads_of(made, n.in[0], a);
        return fmt::format("{} {}", r.side_by_side, r.apart);
      }
  return "none";
}

constexpr auto plain_sum = kernel<"plain_sum">([](in<"X", kv, d> X, in<"Y", d> Y) -> out<"O", kv> {
  return max<d>(X * broadcast<kv>(Y) + broadcast<kv>(cast<f32>(index(d))));
});
constexpr auto of_groups = kernel<"of_groups">(
    [](in<"X", kv, d> X) -> out<"O", groups, d> { return max<four>(split<kv, groups, four>(X)); });
constexpr auto of_heads = kernel<"of_heads">([](in<"X", kv, d> X) -> out<"O", kv, heads> {
  return max<d_head>(split<d, heads, d_head>(X));
});
constexpr auto of_merged = kernel<"of_merged">(
    [](in<"X", groups, four, d> X) -> out<"O", d> { return max<kv>(merge<kv, groups, four>(X)); });
constexpr auto gathered =
    kernel<"gathered">([](in<"X", kv, d> X, in<"at", i32, seq, four> at) -> out<"O", seq, d> {
      return max<four>(take<kv>(X, at));
    });
constexpr auto sliced = kernel<"sliced">(
    [](in<"X", kv, d> X) -> out<"O", kv> { return max<few>(slice<d, few>(X, 3)); });
constexpr auto joined = kernel<"joined">([](in<"X", kv, d> X, in<"Y", few, kv> Y) -> out<"O", kv> {
  return max<both>(concat<both>(X, Y));
});

TEST_CASE("numbers lie side by side or apart along an axis") {
  CHECK(reads(codegen::make_program(plain_sum), "d") == "2 0");
  CHECK(reads(codegen::make_program(plain_sum), "kv") == "0 1");  // Y is the same everywhere
  CHECK(reads(codegen::make_program(of_groups), "four") == "0 1");
  CHECK(reads(codegen::make_program(of_groups), "d") == "1 0");
  CHECK(reads(codegen::make_program(of_heads), "d_head") == "1 0");
  CHECK(reads(codegen::make_program(of_heads), "heads") == "0 1");
  CHECK(reads(codegen::make_program(of_merged), "kv") == "0 1");
  CHECK(reads(codegen::make_program(of_merged), "d") == "1 0");
  CHECK(reads(codegen::make_program(gathered), "four") == "1 1");  // positions, and rows at them
  CHECK(reads(codegen::make_program(gathered), "d") == "1 0");
  CHECK(reads(codegen::make_program(gathered), "seq") == "0 2");
  CHECK(reads(codegen::make_program(sliced), "few") == "1 0");
  CHECK(reads(codegen::make_program(sliced), "kv") == "0 1");
  CHECK(reads(codegen::make_program(joined), "both") == "1 1");
  CHECK(reads(codegen::make_program(joined), "kv") == "1 1");
}

}  // namespace
