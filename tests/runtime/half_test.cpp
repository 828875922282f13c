// SPDX-License-Identifier: BSL-1.0
// 16-bit storage: every bit pattern, and rounding to nearest even.
#include <qkv/core/half.hpp>

#include <cmath>

#include "tests/catch.hpp"

using namespace qkv;

TEST_CASE("every 16-bit number comes back as it was") {
  int wrong = 0;
  for (std::uint32_t u = 0; u < 0x10000; ++u) {
    const auto bits = static_cast<std::uint16_t>(u);
    if (std::isnan(from_bf16(bits)))
      wrong += !std::isnan(from_bf16(to_bf16(from_bf16(bits))));
    else
      wrong += to_bf16(from_bf16(bits)) != bits;
    if (std::isnan(from_f16(bits)))
      wrong += !std::isnan(from_f16(to_f16(from_f16(bits))));
    else
      wrong += to_f16(from_f16(bits)) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what lies between two numbers goes to the nearer one, half way to the even one") {
  int wrong = 0;
  for (std::uint32_t u = 0; u + 1 < 0x7c00; ++u) {
    const float low = from_f16(static_cast<std::uint16_t>(u)),
                high = from_f16(static_cast<std::uint16_t>(u + 1));
    const float middle = low + (high - low) / 2;
    wrong += to_f16(middle) != (u % 2 ? u + 1 : u);
    wrong += to_f16(std::nextafter(middle, low)) != u;
    wrong += to_f16(std::nextafter(middle, high)) != u + 1;
    wrong += to_f16(-std::nextafter(middle, high)) != ((u + 1) | 0x8000);
  }
  CHECK(wrong == 0);
  CHECK(from_f16(0x3c00) == 1.f);
  CHECK(from_f16(0x7bff) == 65504.f);
  CHECK(to_f16(65519.f) == 0x7bff);
  CHECK(to_f16(65520.f) == 0x7c00);
  CHECK(to_f16(1e30f) == 0x7c00);
  CHECK(to_bf16(1.f + 0x1p-8f) == 0x3f80);
  CHECK(to_bf16(1.f + 3 * 0x1p-8f) == 0x3f82);
  CHECK(to_bf16(3.4e38f) == 0x7f80);
}
