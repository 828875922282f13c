// SPDX-License-Identifier: BSL-1.0
// The plan of a kernel on a machine, as text.
#include "codegen/emit/machine_sheet.hpp"

#include <qkv/dsl.hpp>

#include <string>

#include "codegen/gradient/gradient.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr batch_axis<"heads"> heads;
constexpr batch_axis<"group", 4> group;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"d", 72> d;
constexpr axis<"e", 8> e;

constexpr auto attention =
    kernel<"attention">([](in<"Q", heads, group, seq, d> Q, in<"K", heads, kv, d> K,
                           in<"V", heads, kv, d> V) -> out<"O", heads, group, seq, d> {
      return dot<kv>(softmax<kv>(dot<d>(Q, K) / sqrt(d)), V);
    });
constexpr auto one_axis =
    kernel<"one_axis">([](in<"Q", heads, seq, d> Q, in<"K", heads, kv, d> K,
                          in<"V", heads, kv, d> V) -> out<"O", heads, seq, d> {
      return scaled_dot_product<d, kv>(Q, K, V);
    });
constexpr axis<"mem"> mem;
constexpr auto across = kernel<"across">([](in<"Q", heads, seq, d> Q, in<"K", heads, mem, d> K,
                                            in<"V", heads, mem, d> V) -> out<"O", heads, seq, d> {
  return scaled_dot_product<d, mem>(Q, K, V);
});
constexpr alias<"turn", seq> turn;
constexpr auto turns = kernel<"turns">(
    [](in<"Q", turn, seq, d> Q, in<"K", mem, d> K, in<"V", mem, d> V) -> out<"O", turn, seq, d> {
      return dot<mem>(softmax<mem>(dot<d>(Q, K) / sqrt(d)), V);
    });
constexpr axis<"past", 129> past;
constexpr auto across_many =
    kernel<"across_many">([](in<"Q", heads, seq, d> Q, in<"K", heads, past, d> K,
                             in<"V", heads, past, d> V) -> out<"O", heads, seq, d> {
      return scaled_dot_product<d, past>(Q, K, V);
    });
constexpr auto windowed =
    kernel<"windowed">([](in<"Q", heads, seq, d> Q, in<"K", heads, kv, d> K,
                          in<"V", heads, kv, d> V) -> out<"O", heads, seq, d> {
      auto near = mask(dot<d>(Q, K) / sqrt(d), sliding_window<seq, kv>(64));
      return dot<kv>(softmax<kv>(mask(near, causal<seq, kv>)), V);
    });
constexpr auto projected = kernel<"projected">(
    [](in<"X", seq, d> X, param<"W", d, e> W) -> out<"Y", seq, e> { return dot<d>(X, W); });

std::string on(const std::string &name, const codegen::program &p) {
  return codegen::sheet_of(
      codegen::plan_on(codegen::plan_of(p), codegen::targets_of(name)[0], {true}));
}
bool has_line(const std::string &text, const std::string &line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a sheet of a machine names the tiles and the calls that take them") {
  const codegen::program p = codegen::make_program(attention);
  const std::string wide = on("x86-64-v4", p);
  INFO(wide);
  CHECK(wide.starts_with("on x86-64-v4: "));
  CHECK(has_line(wide, "  attention    dot(softmax(...), V)"));
  CHECK(has_line(
      wide,
      "    33 to 48 rows      tile 48 x 128, one block, with the rows of all group, registers 4 x "
      "80"));
  CHECK(has_line(wide, "    more rows          tile 32 x 128, 16 a task, registers 4 x 80"));
  CHECK(wide.find("    up to 20 rows      tile 4 x 256, keys in lanes, 16 features") != wide.npos);
  CHECK(has_line(on("x86-64-v3", p),
                 "    more rows          tile 48 x 128, 10 a task, registers 4 x 24"));
  CHECK(on("opencl", p).find("threads") != std::string::npos);
  CHECK(has_line(on("cuda", p), "    any rows           tf32 128 x 32, 256 threads, sm_80"));
}

TEST_CASE("a form for few rows with the tile of the last form is left out") {
  const codegen::program p = codegen::make_program(across);
  const std::string wide = on("x86-64-v4", p), narrow = on("x86-64-v3", p);
  INFO(wide << narrow);
  CHECK(has_line(wide, "    33 to 48 rows      tile 48 x 128, one block, registers 4 x 80"));
  CHECK(has_line(wide, "    33 to 48 rows      tile 48 x 128, registers 4 x 80"));
  CHECK(wide.find("64 rows") == wide.npos);
  CHECK(has_line(narrow, "    33 to 48 rows      tile 48 x 128, one block, registers 4 x 24"));
  CHECK(narrow.find("33 to 48 rows      tile 48 x 128, registers") == narrow.npos);
  CHECK(has_line(narrow, "    21-32, 49-64 rows  tile 32 x 128, registers 4 x 24"));
}

TEST_CASE("a form for one block of keys is the only one where no call has more, if there is one") {
  const std::string text = on("x86-64-v4", codegen::make_program(one_axis));
  INFO(text);
  CHECK(has_line(text, "    33 to 48 rows      tile 48 x 128, one block, registers 4 x 80"));
  CHECK(text.find("33 to 48 rows      tile 48 x 128, registers") == text.npos);
  CHECK(on("x86-64-v4", codegen::make_program(across_many)).find("one block") == text.npos);
}

TEST_CASE("rows along two axes of one size have all forms") {
  const std::string text = on("x86-64-v4", codegen::make_program(turns));
  INFO(text);
  for (const char *rows : {"1 row ", "5 to 6 rows ", "33 to 48 rows ", "up to 64 rows "})
    CHECK(text.find(std::string("    ") + rows) != text.npos);
}

TEST_CASE("sheets of contractions and of gradients") {
  CHECK(has_line(on("x86-64-v4", codegen::make_program(projected)), "    240 rows share a sweep"));
  const codegen::program backward = codegen::gradient(codegen::make_program(attention), {});
  for (const codegen::machine &m : codegen::machines()) CHECK(!on(m.name, backward).empty());
}

TEST_CASE("gradients within a window have smaller tiles") {
  const auto gradient_of = [](const auto &kernel) {
    return on("x86-64-v4", codegen::gradient(codegen::make_program(kernel), {}));
  };
  const std::string window = gradient_of(windowed), full = gradient_of(one_axis);
  INFO(window << full);
  CHECK(window.find("tile 32 x 32") != window.npos);
  CHECK(window.find("tile 64 x 64") == window.npos);
  CHECK(full.find("tile 64 x 64") != full.npos);
}

TEST_CASE("a sheet names the stages that loops of C++ compute") {
  const codegen::machine m = codegen::targets_of("x86-64-v4")[0];
  const auto sheet = [&](const codegen::program &p, const codegen::plain_choice &choice) {
    return codegen::sheet_of(codegen::plan_on(codegen::plan_of(p), m, {false, choice}));
  };
  const codegen::program p = codegen::make_program(projected);
  const std::string some = sheet(p, {true, {}}), exactly = sheet(p, {false, {0}});
  INFO(some << exactly);
  CHECK(has_line(some, "    by loops of C++, unless they have no text"));
  CHECK(has_line(some, "    240 rows share a sweep"));
  CHECK(has_line(exactly, "    by loops of C++"));
  CHECK(!has_line(exactly, "    240 rows share a sweep"));
  CHECK(sheet(p, {}).find("loops") == std::string::npos);
  // Halide computes attention.
  CHECK(sheet(codegen::make_program(one_axis), {true, {}}).find("loops") == std::string::npos);
}

TEST_CASE("a tool gets the sheets of all its kernels on all machines") {
  const codegen::plan made = codegen::plan_of(codegen::make_program(projected));
  const std::vector<codegen::machine> machines = codegen::targets_of("x86-64-v3,x86-64-v4");
  const std::string text = codegen::machine_sheets("my", {codegen::plans_on(made, machines)});
  CHECK(text.find("qkv_machines_my()") != text.npos);
  CHECK(text.find("{\"projected\", \"x86-64-v3\", R\"sheet(on x86-64-v3") != text.npos);
  CHECK(text.find("{\"projected\", \"x86-64-v4\", R\"sheet(on x86-64-v4") != text.npos);
}

TEST_CASE("a machine that multiplies bf16 has code of its own where there is such a product") {
  constexpr auto of_bf16 =
      kernel<"of_bf16">([](in<"Q", bf16, heads, seq, d> Q, in<"K", bf16, heads, kv, d> K,
                           in<"V", bf16, heads, kv, d> V) -> out<"O", bf16, heads, seq, d> {
        return scaled_dot_product<d, kv>(Q, K, V);
      });
  const auto planned = [](const codegen::program &p, const std::vector<codegen::machine> &wanted) {
    const codegen::plan made = codegen::plan_of(p);
    std::string names;
    for (const codegen::machine_plan &one : codegen::plans_on(made, wanted))
      names += one.m.name + " ";
    return names;
  };
  const auto machines_of = [&](const codegen::program &p, const std::string &targets) {
    return planned(p, codegen::targets_of(targets));
  };
  const codegen::program product = codegen::make_program(of_bf16),
                         wide = codegen::make_program(one_axis);
  CHECK(machines_of(product, "host") == "sapphirerapids zen4 x86-64-v4 x86-64-v3 ");
  CHECK(machines_of(wide, "host") == "x86-64-v4 x86-64-v3 ");
  CHECK(machines_of(wide, "zen4,x86-64-v3") == "zen4 x86-64-v3 ");
  std::vector<codegen::machine> host = codegen::targets_of("host");
  host[1].attention.back().keys = 64;
  CHECK(planned(wide, host) == "zen4 x86-64-v4 x86-64-v3 ");
  // In place of one of its name, a machine is not its own base.
  std::vector<codegen::machine> alone = codegen::targets_of("x86-64-v3");
  alone[0].like = alone[0].name;
  CHECK(planned(wide, alone) == "x86-64-v3 ");
  const std::string matrix = on("sapphirerapids", product);
  INFO(matrix);
  CHECK(matrix.find("up to 4 rows       tile 4 x 256, keys in lanes, ") != matrix.npos);
  CHECK(matrix.find("5 to 16 rows       tile 16 x 256, keys in lanes, matrix tiles of bf16\n") !=
        matrix.npos);
  CHECK(matrix.find("more rows          tile 32 x 256, keys in lanes, matrix tiles of bf16, ") !=
        matrix.npos);
  const std::string sheet = on("zen4", product);
  INFO(sheet);
  CHECK(sheet.find("more rows          tile 32 x 128, products of bf16") != sheet.npos);
  CHECK(on("x86-64-v4", product).find("products of bf16") == std::string::npos);
}
