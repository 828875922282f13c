// SPDX-License-Identifier: BSL-1.0
// Which keys a tile of rows visits: masks in any formula bound them.
#include "codegen/halide/lower/key_range.hpp"

#include <fmt/format.h>

#include <qkv/dsl.hpp>
#include <string>
#include <variant>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

namespace {

using namespace qkv;

constexpr axis<"seq", 1000> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"d", 16> d;

std::string text_of(const Halide::Expr &bound) {
  if (!bound.defined()) return "any";
  const auto n = Halide::Internal::as_const_int(Halide::Internal::simplify(bound));
  return n ? std::to_string(*n) : "of the call";
}

// Which chunk of 64 positions it belongs to.
constexpr auto chunk = [](auto position) { return cast<i32>(position / 64); };

// "from to" of the keys that rows 400 to 431 visit.
template <auto Keep>
std::string visited() {
  const auto k = kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K, in<"V", kv, d> V,
                                in<"n", i32> n) -> out<"O", seq, d> {
    return dot<kv>(softmax<kv>(mask(dot<d>(Q, K), Keep(n))), V);
  });
  using namespace qkv::codegen;
  const plan made = plan_of(make_program(k));
  const context c(made, {});
  const auto &s = std::get<attention_stage>(made.cut.list.at(0));
  const key_range seen = visible_keys(c, s, {{s.row, {400, 431}}}, {});
  return fmt::format("{} {}", text_of(seen.from), text_of(seen.to));
}

TEST_CASE("masks bound the keys that a tile of rows visits") {
  CHECK(visited<[](auto n) { return (index(kv) >= n); }>() == "of the call any");
  CHECK(visited<[](auto) { return causal<seq, kv>; }>() == "any 432");
  CHECK(visited<[](auto) { return sliding_window<seq, kv>(16); }>() == "385 447");
  CHECK(visited<[](auto) { return causal<seq, kv> and sliding_window<seq, kv>(16); }>() ==
        "385 432");
  CHECK(visited<[](auto) { return abs(index(kv) - index(seq)) <= 15; }>() == "385 447");
  CHECK(visited<[](auto) { return (16 > abs(index(seq) - index(kv))); }>() == "385 447");
  CHECK(visited<[](auto) { return max(index(kv), index(seq) - 900) < 500; }>() == "any 500");
  CHECK(visited<[](auto) { return index(kv) < min(index(seq), 420); }>() == "any 420");
  CHECK(visited<[](auto n) { return sliding_window<seq, kv>(n); }>() == "of the call of the call");
  // Multiples of positions, and the chunks that they are in.
  CHECK(visited<[](auto) { return index(kv) * 4 + 3 <= index(seq); }>() == "any 108");
  CHECK(visited<[](auto) { return index(seq) <= 3 * index(kv) - 1; }>() == "134 any");
  CHECK(visited<[](auto) { return -2 * index(kv) >= -index(seq); }>() == "any 216");
  CHECK(visited<[](auto) { return chunk(index(seq)) == chunk(index(kv)); }>() == "384 448");
  CHECK(visited<[](auto) {
          return chunk(index(seq)) - chunk(index(kv)) <= 1 && causal<seq, kv>;
        }>() == "320 432");
  CHECK(visited<[](auto) { return cast<i32>(index(kv) * 0.015625f) < chunk(index(seq)); }>() ==
        "any 384");
  CHECK(visited<[](auto) { return 2 * chunk(index(kv)) <= chunk(index(seq)); }>() == "any 256");
  CHECK(visited<[](auto) { return cast<i32>(cast<f32>(index(kv)) / 41) <= 2; }>() == "any 123");
  CHECK(visited<[](auto) { return cast<i32>(cast<f64>(index(kv)) / 41) <= 2; }>() == "any 123");
  CHECK(visited<[](auto) { return chunk(index(kv) - 5) <= 2; }>() == "any any");
  CHECK(visited<[](auto) { return chunk(index(kv)) <= cast<i32>(index(kv) / 32) - 4; }>() ==
        "any any");
  // The border between two chunks is not exact.
  CHECK(visited<[](auto) { return cast<i32>(index(kv) * (1.0 / 41)) <= 2; }>() == "any any");
  CHECK(visited<[](auto) { return cast<i32>(cast<f16>(index(kv)) / 64) <= 2; }>() == "any any");
  CHECK(visited<[](auto) { return cast<i32>(cast<f32>(cast<bf16>(index(kv))) / 64) <= 2; }>() ==
        "any any");
  // No bound follows.
  CHECK(visited<[](auto) { return index(kv) * 65537 * 65537 <= index(seq); }>() == "any any");
  CHECK(visited<[](auto) { return (abs(index(kv) - index(seq)) > 15); }>() == "any any");
  CHECK(visited<[](auto) { return min(index(kv), index(seq)) < 500; }>() == "any any");
}

}  // namespace
