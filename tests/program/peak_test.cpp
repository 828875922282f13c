// SPDX-License-Identifier: BSL-1.0
// The memory of a call at once: of sweeps by hand, and of small kernels whose peak is known.
#include <qkv/dsl.hpp>

#include "codegen/sheets/describe.hpp"
#include "codegen/sheets/oracle.hpp"
#include "codegen/sheets/peak.hpp"
#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {
namespace {

using codegen::call_memory;
using codegen::formula;
using codegen::make_program;
using codegen::memory_of;
using codegen::peak;
using codegen::peak_of;
using codegen::plan;
using codegen::plan_of;
using codegen::program;

constexpr axis<"i"> i;
constexpr axis<"a", 16> a;
constexpr axis<"b", 32> b;
constexpr axis<"c", 64> c;
constexpr axis<"d", 48> d;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr batch_axis<"heads", 8> heads;
constexpr axis<"d_k", 64> d_k;
constexpr axis<"d_v", 64> d_v;

// Four contractions, whose packed params take no memory of the call.
constexpr auto chain =
    kernel<"chain">([](in<"X", i, a> X, param<"W1", a, b> W1, param<"W2", b, c> W2,
                       param<"W3", c, d> W3, param<"W4", d, b> W4) -> out<"Y", i, b> {
      auto first = relu(dot<a>(X, W1));
      auto second = relu(dot<b>(first, W2));
      return dot<d>(relu(dot<c>(second, W3)), W4);
    });
// The last one reads the first one, too.
constexpr auto with_skip =
    kernel<"with_skip">([](in<"X", i, a> X, param<"W1", a, b> W1, param<"W2", b, c> W2,
                           param<"W3", c, d> W3, param<"W4", d, b> W4) -> out<"Y", i, b> {
      auto first = let<"first">(relu(dot<a>(X, W1)));
      auto second = let<"second">(relu(dot<b>(first, W2)));
      return dot<d>(let<"third">(relu(dot<c>(second, W3))), W4) + first;
    });

constexpr auto attention =
    kernel<"attention">([](in<"Q", heads, seq, d_k> Q, in<"K", heads, kv, d_k> K,
                           in<"V", heads, kv, d_v> V) -> out<"O", heads, seq, d_v> {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K)), V);
    });

std::string text_of(const program &p, const codegen::size_map &sizes = {}) {
  const plan made = plan_of(p);
  return peak_of(made, resolve_sizes(made.p, sizes)).bytes.text(made.p);
}

// Buffers of so many bytes.
call_memory of(const std::vector<double> &bytes, std::vector<codegen::sweep> sweeps) {
  call_memory m;
  for (const double n : bytes) m.buffers.emplace_back(n, std::vector<codegen::axis_id>());
  m.sweeps = std::move(sweeps);
  return m;
}

}  // namespace

TEST_CASE("peak: a buffer is there from its writer to its last reader") {
  const std::vector<codegen::sweep> chained = {{0, {0}, {}}, {1, {1}, {0}}, {2, {2}, {1}}};
  const call_memory m = of({1, 10, 100}, chained);
  CHECK(peak_of(m, {}).bytes.value({}) == 110);
  CHECK(peak_of(m, {}).stage == 2);
  std::vector<codegen::sweep> kept = chained;
  kept[2].reads = {1, 0};
  CHECK(peak_of(of({1, 10, 100}, kept), {}).bytes.value({}) == 111);
  CHECK(peak_of(of({100, 10, 1}, chained), {}).stage == 1);
  CHECK(peak_of(of({}, {}), {}).stage == -1);
}

TEST_CASE("peak: of contractions one after the other") {
  CHECK(text_of(make_program(chain)) == "4*i*c + 4*i*d");
  CHECK(text_of(make_program(with_skip)) == "4*i*b + 4*i*c + 4*i*d");
}

TEST_CASE("peak: a reader that is forgotten makes it less") {
  const plan made = plan_of(make_program(with_skip));
  const std::vector<std::int64_t> size = resolve_sizes(made.p, {{"i", 10}});
  call_memory m = memory_of(made, size);
  const auto whole = peak_of(m, size).bytes.value(size);
  REQUIRE(m.sweeps.size() == 4);
  REQUIRE(m.sweeps.back().reads.size() == 2);
  CHECK(whole == 10 * 4 * (32 + 64 + 48));
  m.sweeps.back().reads.pop_back();
  CHECK(peak_of(m, size).bytes.value(size) == 10 * 4 * (64 + 48));
}

TEST_CASE("peak: an attention takes the rows of a task, never its scores") {
  CHECK(text_of(make_program(attention), {{"seq", 100'000}}) == "2048*d_k + 2048*d_v");
  CHECK(text_of(make_program(attention), {{"seq", 100}}) == "4*seq*d_k + 4*seq*d_v");
}

TEST_CASE("peak: the sheet and the tool have it") {
  const program p = make_program(with_skip);
  const std::string known = codegen::describe(p, plan_of(p), {{"i", 100}}),
                    open = codegen::describe(p, plan_of(p));
  INFO(known << open);
  const std::string where = "at once on one thread\n    in stage     dot(second, W3)\n";
  CHECK(known.find(" = 57.6 kB " + where) != std::string::npos);
  CHECK(open.find(" B " + where) != std::string::npos);
  CHECK(codegen::oracle(p).cost({{"i", 100}}).peak_bytes.value == 57600);
}

}  // namespace qkv::testing
