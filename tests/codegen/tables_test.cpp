// SPDX-License-Identifier: BSL-1.0
// Tables of C: the packed params of a kernel's variants.
#include "codegen/emit/tables.hpp"

#include <qkv/dsl.hpp>
#include <string>

#include "codegen/machines/machines.hpp"
#include "codegen/plan/on_machine/machine_plan.hpp"
#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr axis<"seq"> seq;
constexpr axis<"d", 96> d;
constexpr axis<"e", 96> e;
constexpr auto projected = kernel<"projected">(
    [](in<"X", seq, d> X, param<"W", d, e> W) -> out<"Y", seq, e> { return dot<d>(X, W); });

std::string tables(const std::vector<codegen::machine> &machines) {
  const codegen::plan made = codegen::plan_of(codegen::make_program(projected));
  return codegen::c_tables("my", {codegen::plans_on(made, machines)});
}
std::size_t count(const std::string &text, const std::string &part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("machines with the same panels share a list of packed params") {
  const std::string text = tables(codegen::targets_of("x86-64-v3,x86-64-v4"));
  INFO(text);
  CHECK(count(text, "static const qkv_pack packs_projected[] = {\n    {1, 48, ") == 1);
  CHECK(count(text, "static const qkv_pack") == 1);
  CHECK(count(text, ", 1, packs_projected},") == 2);
}

TEST_CASE("a machine with other panels has a list of its own") {
  std::vector<codegen::machine> machines = codegen::targets_of("x86-64-v3,x86-64-v4");
  machines[1].panels = {{32}, {}, 16};
  const std::string text = tables(machines);
  INFO(text);
  CHECK(count(text, "static const qkv_pack packs_projected[] = {\n    {1, 48, ") == 1);
  CHECK(count(text, "_v3[] = {\n    {1, 32, ") == 1);
  CHECK(count(text, "static const int32_t pack_projected__W_rows[]") == 1);
  CHECK(count(text, ", 1, packs_projected},") == 1);
  CHECK(count(text, ", 1, packs_projected__x86_64_v3},") == 1);
}
