// SPDX-License-Identifier: BSL-1.0
// Tiles of pairs, read up to the last key.
#include "codegen/halide/schedules/guarded_ends.hpp"

#include <string>

#include "tests/catch.hpp"

namespace {

using namespace Halide;

constexpr const char *avx2 = "x86-64-linux-avx2-fma-f16c-sse41-avx";
constexpr const char *avx512 = "x86-64-linux-avx2-fma-f16c-sse41-avx-avx512-avx512_skylake";

// The load of: name[ramp(0, 1, 8)] = bias[min(ramp(k, 1, 8), x8(last)) + x8(row)]
const Internal::Load *lowered(const std::string &name, const Type &t, const char *target,
                              const Expr &rest, Internal::Stmt &kept) {
  const Expr k = Internal::Variable::make(Int(32), "k"),
             last = Internal::Variable::make(Int(32), "last");
  Expr index =
      Internal::Min::make(Internal::Ramp::make(k, 1, 8), Internal::Broadcast::make(last, 8));
  if (rest.defined()) index = index + Internal::Broadcast::make(rest, 8);
  const Expr load = Internal::Load::make(t.with_lanes(8), "bias", index, Buffer<>(), Parameter(),
                                         Internal::const_true(8), Internal::ModulusRemainder());
  qkv::codegen::machine m;
  m.target = target;
  kept = qkv::codegen::guarded_ends(m).mutate(
      Internal::Store::make(name, load, Internal::Ramp::make(0, 1, 8), Parameter(),
                            Internal::const_true(8), Internal::ModulusRemainder()));
  return kept.as<Internal::Store>()->value.as<Internal::Load>();
}

bool is_masked(const std::string &name, const Type &t, const char *target,
               const Expr &rest = Expr()) {
  Internal::Stmt kept;
  const Internal::Load *load = lowered(name, t, target, rest, kept);
  return load->index.as<Internal::Ramp>() && !Internal::is_const_one(load->predicate);
}

}  // namespace

TEST_CASE("the last vector of a tile of pairs is one masked load") {
  CHECK(is_masked("pair_tile__bias", Float(32), avx2));
  CHECK(
      is_masked("pair_tile__bias$2", Float(32), avx512, Internal::Variable::make(Int(32), "row")));
}

TEST_CASE("numbers of 16 and 8 bits have masked loads on AVX-512 alone") {
  CHECK(!is_masked("pair_tile__bias", UInt(16), avx2));
  CHECK(is_masked("pair_tile__bias", UInt(16), avx512));
  CHECK(!is_masked("pair_tile__keep", UInt(8), "x86-64-linux"));
}

TEST_CASE("a position that repeats the last one elsewhere means it") {
  CHECK(!is_masked("scores", Float(32), avx512));
}

TEST_CASE("lanes that a select replaces are not read") {
  const Expr k = Internal::Ramp::make(Internal::Variable::make(Int(32), "k"), 1, 8);
  const auto load_below = [&](int below, int last) {
    const Expr index = Internal::Min::make(k, Internal::Broadcast::make(last, 8));
    const Expr load = Internal::Load::make(Float(32, 8), "V", index, Buffer<>(), Parameter(),
                                           Internal::const_true(8), Internal::ModulusRemainder());
    qkv::codegen::machine m;
    m.target = avx512;
    const Expr made = qkv::codegen::guarded_ends(m).mutate(Internal::Select::make(
        k < Internal::Broadcast::make(below, 8), load, Internal::make_zero(load.type())));
    return made.as<Internal::Select>()->true_value.as<Internal::Load>()->index;
  };
  CHECK(load_below(72, 71).as<Internal::Ramp>());
  CHECK(load_below(73, 71).as<Internal::Min>());
}
