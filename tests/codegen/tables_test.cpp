// SPDX-License-Identifier: BSL-1.0
// Tables of C: the packed params of a kernel's variants.
#include "codegen/emit/tables.hpp"

#include <qkv/dsl.hpp>
#include <string>

#include "codegen/emit/processor_checks.hpp"
#include "codegen/machines/machine_text.hpp"
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

constexpr alias<"kv", seq> kv;
constexpr auto attention =
    kernel<"attention">([](in<"Q", bf16, seq, d> Q, in<"K", bf16, kv, d> K,
                           in<"V", bf16, kv, e> V) -> out<"O", bf16, seq, e> {
      return scaled_dot_product<d, kv>(Q, K, V);
    });

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

TEST_CASE("kernels of different machines share the tests of what a processor can run") {
  const std::vector<codegen::machine> host = codegen::targets_of("host");
  const codegen::plan first = codegen::plan_of(codegen::make_program(projected)),
                      second = codegen::plan_of(codegen::make_program(attention));
  const std::string text =
      codegen::c_tables("my", {codegen::plans_on(first, host), codegen::plans_on(second, host)});
  INFO(text);
  CHECK(count(text, "static int can_run_zen4(void)") == 1);
  CHECK(count(text, "static int can_run_x86_64_v4(void)") == 1);
  CHECK(count(text, "static int has_bits(") == 1);
  CHECK(count(text, " && has_bits(0x80000001, 0, 2, 0x40)") +
            count(text, "&&\n         has_bits(0x80000001, 0, 2, 0x40)") ==
        1);                                              // sse4a
  CHECK(count(text, "has_bits(0x7, 1, 0, 0x20)") == 1);  // bf16
  CHECK(count(text, "can_run_zen4,") == 1);
  CHECK(count(text, "can_run_x86_64_v4,") == 2);
  CHECK(count(codegen::c_tables("my", {codegen::plans_on(first, host)}), "has_bits") == 0);
}

TEST_CASE("a Zen 4 does not take code for a Zen 5") {
  const auto check_of = [](const std::string &feature) {
    return codegen::processor_checks(
        {codegen::parse_machine("my", "like = x86-64-v4\nhalide = x86-64-linux-avx512_" + feature,
                                codegen::text_of_machine)});
  };
  const std::string vp2intersect = "has_bits(0x7, 0, 3, 0x100)";
  CHECK(count(check_of("zen5"), vp2intersect) == 1);
  CHECK(count(check_of("zen5"), "has_bits(0x80000001, 0, 2, 0x40)") == 1);  // sse4a
  CHECK(count(check_of("zen4"), vp2intersect) == 0);
  CHECK(count(check_of("skylake"), "has_bits") == 0);
}
