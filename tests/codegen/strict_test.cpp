// SPDX-License-Identifier: BSL-1.0
// Numbers that become bf16.
#include "codegen/halide/lower/strict.hpp"

#include <cstdint>
#include <vector>

#include "tests/catch.hpp"

using namespace Halide;
namespace strict = qkv::codegen::strict;

namespace {

// The bits of a number after `rounded`.
template <class F>
std::uint16_t bits(std::uint32_t number, F rounded) {
  Buffer<std::uint32_t> in(16);
  in.fill(number);
  ImageParam A(UInt(32), 1, "A");
  Func f("f");
  const Var x("x");
  f(x) = reinterpret<std::uint16_t>(rounded(reinterpret<float>(A(x))));
  f.vectorize(x, 16);
  A.set(in);
  const Buffer<std::uint16_t> out = f.realize({16});
  return out(7);
}

bool is_nan(std::uint16_t b) { return (b & 0x7fff) > 0x7f80; }

}  // namespace

TEST_CASE("a weight becomes the nearest bf16") {
  const auto weight = [](std::uint32_t b) { return bits(b, strict::weight_as_bf16); };
  CHECK(weight(0) == 0);
  CHECK(weight(0x80000000u) == 0);       // -0
  CHECK(weight(0x3f800000u) == 0x3f80);  // 1
  CHECK(weight(0x3f807fffu) == 0x3f80);  // below half of a step
  CHECK(weight(0x3f808000u) == 0x3f81);  // half of it
  CHECK(weight(0x3f80ffffu) == 0x3f81);  // beyond it
  CHECK(weight(0x00010000u) == 0x0001);  // below the smallest normal number
  CHECK(weight(0x7f800000u) == 0x7f80);  // infinity
  for (const std::uint32_t nan : {0x7fc00000u, 0x7fc00001u, 0x7fffffffu, 0xffffffffu, 0xffc00000u})
    CHECK(is_nan(weight(nan)));
}

TEST_CASE("a conversion to the same type is none") {
  const Expr x = Param<bfloat16_t>("x");
  CHECK(strict::cast(BFloat(16), x).same_as(x));
}
