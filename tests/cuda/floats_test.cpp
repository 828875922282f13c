// SPDX-License-Identifier: BSL-1.0
// Instructions on floating-point numbers: rounding, subnormal numbers, NaN, conversions.
#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity(),
                quiet = std::numeric_limits<float>::quiet_NaN(), tiny = 0x1p-140f, ulp = 0x1p-23f;
constexpr std::uint64_t f16_one = 0x3c00, f16_tiny = 1, f16_most = 0x7bff, f16_inf = 0x7c00,
                        bf16_one = 0x3f80, bf16_three = 0x4040;

}  // namespace

TEST_CASE("f32: sums and products round once, a fused multiply-add rounds its sum alone") {
  check({
      {"add.f32 %f10, %f0, %f1;", bits(1.f), bits(ulp / 2), 0, bits(1.f)},
      {"add.rn.f32 %f10, %f0, %f1;", bits(1.f + ulp), bits(ulp / 2), 0, bits(1.f + 2 * ulp)},
      {"add.f32 %f10, %f0, %f1;", bits(tiny), bits(tiny), 0, bits(2 * tiny)},
      {"add.ftz.f32 %f10, %f0, %f1;", bits(tiny), bits(tiny), 0, bits(0.f)},
      {"add.sat.f32 %f10, %f0, %f1;", bits(3.f), bits(-1.f), 0, bits(1.f)},
      {"sub.f32 %f10, %f0, %f1;", bits(1.f), bits(1.f), 0, bits(0.f)},
      {"mul.f32 %f10, %f0, %f1;", bits(0x1p-100f), bits(0x1p-40f), 0, bits(tiny)},
      {"mul.ftz.f32 %f10, %f0, %f1;", bits(0x1p-100f), bits(0x1p-40f), 0, bits(0.f)},
      {"mul.f32 %f10, %f0, %f1;", bits(1 + ulp), bits(1 + ulp), 0, bits(1 + 2 * ulp)},
      {"fma.rn.f32 %f10, %f0, %f1, %f2;", bits(1 + ulp), bits(1 + ulp), bits(-1 - 2 * ulp),
       bits(ulp * ulp)},
      {"mul.f32 %f11, %f0, %f1; add.f32 %f10, %f11, %f2;", bits(1 + ulp), bits(1 + ulp),
       bits(-1 - 2 * ulp), bits(0.f)},
      {"div.rn.f32 %f10, %f0, %f1;", bits(1.f), bits(3.f), 0, bits(1.f / 3)},
      {"div.rn.f32 %f10, %f0, %f1;", bits(-1.f), bits(0.f), 0, bits(-inf)},
      {"sqrt.rn.f32 %f10, %f0;", bits(2.f), 0, 0, bits(1.41421356f)},
      {"rcp.rn.f32 %f10, %f0;", bits(3.f), 0, 0, bits(1.f / 3)},
      {"neg.f32 %f10, %f0;", bits(0.f), 0, 0, bits(-0.f)},
      {"abs.f32 %f10, %f0;", bits(-inf), 0, 0, bits(inf)},
      {"copysign.f32 %f10, %f0, %f1;", bits(-1.f), bits(3.f), 0, bits(-3.f)},
  });
}

TEST_CASE("f32: approximate functions are exact to the last bit where their result is") {
  check({
      {"ex2.approx.f32 %f10, %f0;", bits(-3.f), 0, 0, bits(0.125f)},
      {"ex2.approx.ftz.f32 %f10, %f0;", bits(-140.f), 0, 0, bits(0.f)},
      {"ex2.approx.f32 %f10, %f0;", bits(-inf), 0, 0, bits(0.f)},
      {"lg2.approx.f32 %f10, %f0;", bits(0x1p-20f), 0, 0, bits(-20.f)},
      {"lg2.approx.f32 %f10, %f0;", bits(0.f), 0, 0, bits(-inf)},
      {"rsqrt.approx.f32 %f10, %f0;", bits(4.f), 0, 0, bits(0.5f)},
      {"sqrt.approx.f32 %f10, %f0;", bits(9.f), 0, 0, bits(3.f)},
      {"rcp.approx.f32 %f10, %f0;", bits(-4.f), 0, 0, bits(-0.25f)},
      {"sin.approx.f32 %f10, %f0;", bits(0.f), 0, 0, bits(0.f)},
      {"cos.approx.f32 %f10, %f0;", bits(0.f), 0, 0, bits(1.f)},
      {"tanh.approx.f32 %f10, %f0;", bits(inf), 0, 0, bits(1.f)},
  });
  gpu g("PTX_ULPS", "2");
  const auto y = static_cast<std::uint32_t>(value(g, "ex2.approx.f32 %f10, %f0;", bits(1.3f)));
  CHECK(std::fabs(std::bit_cast<float>(y) / std::exp2(1.3f) - 1) < 1e-6f);
}

TEST_CASE("the smaller and the larger number: NaN is dropped unless the instruction keeps it") {
  check({
      {"min.f32 %f10, %f0, %f1;", bits(quiet), bits(2.f), 0, bits(2.f)},
      {"max.f32 %f10, %f0, %f1;", bits(2.f), bits(quiet), 0, bits(2.f)},
      {"max.NaN.f32 %f10, %f0, %f1;", bits(2.f), bits(quiet), 0, bits(quiet)},
      {"min.f32 %f10, %f0, %f1;", bits(0.f), bits(-0.f), 0, bits(-0.f)},
      {"max.f32 %f10, %f0, %f1;", bits(-0.f), bits(0.f), 0, bits(0.f)},
      {"max.f64 %e10, %e0, %e1;", bits(-3.0), bits(2.0), 0, bits(2.0)},
  });
}

TEST_CASE("comparisons with NaN are false when ordered, true when unordered") {
  check({
      {"setp.eq.f32 %p10, %f0, %f1;", bits(quiet), bits(quiet), 0, 0},
      {"setp.ne.f32 %p10, %f0, %f1;", bits(quiet), bits(1.f), 0, 0},
      {"setp.neu.f32 %p10, %f0, %f1;", bits(quiet), bits(1.f), 0, 1},
      {"setp.lt.f32 %p10, %f0, %f1;", bits(quiet), bits(1.f), 0, 0},
      {"setp.ltu.f32 %p10, %f0, %f1;", bits(quiet), bits(1.f), 0, 1},
      {"setp.geu.f32 %p10, %f0, %f1;", bits(0.f), bits(1.f), 0, 0},
      {"setp.gt.f32 %p10, %f0, %f1;", bits(2.f), bits(1.f), 0, 1},
      {"setp.le.f64 %p10, %e0, %e1;", bits(1.0), bits(1.0), 0, 1},
      {"setp.num.f32 %p10, %f0, %f1;", bits(1.f), bits(quiet), 0, 0},
      {"setp.nan.f64 %p10, %e0, %e1;", bits(1.0), bits(double(quiet)), 0, 1},
      {"setp.gt.f16 %p10, %h0, %h1;", f16_inf, f16_most, 0, 1},
      {"setp.lt.bf16 %p10, %h0, %h1;", bf16_one, bf16_three, 0, 1},
  });
}

TEST_CASE("f64: every operation rounds to double") {
  check({
      {"add.f64 %e10, %e0, %e1;", bits(1.0), bits(0x1p-53), 0, bits(1.0)},
      {"mul.f64 %e10, %e0, %e1;", bits(0.1), bits(3.0), 0, bits(0.1 * 3.0)},
      {"fma.rn.f64 %e10, %e0, %e1, %e2;", bits(1 + 0x1p-52), bits(1 + 0x1p-52), bits(-1 - 0x1p-51),
       bits(0x1p-104)},
      {"div.rn.f64 %e10, %e0, %e1;", bits(1.0), bits(3.0), 0, bits(1.0 / 3)},
      {"sqrt.rn.f64 %e10, %e0;", bits(2.0), 0, 0, bits(std::sqrt(2.0))},
  });
}

TEST_CASE("f16 and bf16: one rounding, alone and in pairs") {
  check({
      {"add.f16 %h10, %h0, %h1;", f16_one, f16_one, 0, 0x4000},
      {"add.f16 %h10, %h0, %h1;", f16_tiny, f16_tiny, 0, 2},
      {"add.f16 %h10, %h0, %h1;", f16_most, f16_most, 0, f16_inf},
      {"mul.f16 %h10, %h0, %h1;", 0x3c01, 0x3c01, 0, 0x3c02},
      {"fma.rn.f16 %h10, %h0, %h1, %h2;", 0x3c01, 0x3c01, 0xbc02, 0x0010},
      {"add.f16x2 %r10, %r0, %r1;", 0x3c003c00, 0x40003c00, 0, 0x42004000},
      {"fma.rn.bf16x2 %r10, %r0, %r1, %r2;", 0x3f803f80, 0x40403f80, 0, 0x40403f80},
      {"max.bf16 %h10, %h0, %h1;", bf16_one, bf16_three, 0, bf16_three},
      {"neg.bf16 %h10, %h0;", bf16_one, 0, 0, 0xbf80},
  });
}

TEST_CASE("conversions between integers and floating-point numbers round as the instruction says") {
  check({
      {"cvt.rzi.s32.f32 %r10, %f0;", bits(-2.7f), 0, 0, 0xfffffffe},
      {"cvt.rni.s32.f32 %r10, %f0;", bits(2.5f), 0, 0, 2},
      {"cvt.rmi.s32.f32 %r10, %f0;", bits(-2.1f), 0, 0, 0xfffffffd},
      {"cvt.rpi.s32.f32 %r10, %f0;", bits(2.1f), 0, 0, 3},
      {"cvt.rzi.s32.f32 %r10, %f0;", bits(1e20f), 0, 0, 0x7fffffff},
      {"cvt.rzi.s32.f32 %r10, %f0;", bits(quiet), 0, 0, 0},
      {"cvt.rzi.u32.f32 %r10, %f0;", bits(-5.f), 0, 0, 0},
      {"cvt.rzi.u64.f64 %d10, %e0;", bits(1e30), 0, 0, ~0ull},
      {"cvt.rn.f32.s32 %f10, %r0;", 0x01000001, 0, 0, bits(16777216.f)},
      {"cvt.rn.f32.u32 %f10, %r0;", 0xffffffff, 0, 0, bits(4294967296.f)},
      {"cvt.rz.f32.u32 %f10, %r0;", 0xffffffff, 0, 0, bits(4294967040.f)},
      {"cvt.rn.f64.s64 %e10, %d0;", ~0ull, 0, 0, bits(-1.0)},
      {"cvt.rni.f32.f32 %f10, %f0;", bits(-0.5f), 0, 0, bits(-0.f)},
      {"cvt.rmi.f32.f32 %f10, %f0;", bits(-0.5f), 0, 0, bits(-1.f)},
      {"cvt.f64.f32 %e10, %f0;", bits(0.1f), 0, 0, bits(double(0.1f))},
      {"cvt.rn.f32.f64 %f10, %e0;", bits(0.1), 0, 0, bits(0.1f)},
      {"cvt.sat.f32.f32 %f10, %f0;", bits(quiet), 0, 0, bits(0.f)},
  });
}

TEST_CASE("conversions between integers extend, cut, and saturate") {
  check({
      {"cvt.s64.s32 %d10, %r0;", 0x80000000, 0, 0, 0xffffffff80000000},
      {"cvt.u64.u32 %d10, %r0;", 0x80000000, 0, 0, 0x80000000},
      {"cvt.u32.u64 %r10, %d0;", 0x123456789, 0, 0, 0x23456789},
      {"cvt.s32.s8 %r10, %r0;", 0x180, 0, 0, 0xffffff80},
      {"cvt.u32.u8 %r10, %r0;", 0x180, 0, 0, 0x80},
      {"cvt.s32.s16 %r10, %h0;", 0x8000, 0, 0, 0xffff8000},
      {"cvt.u16.u32 %h10, %r0;", 0x12345678, 0, 0, 0x5678},
      {"cvt.sat.u8.s32 %r10, %r0;", 300, 0, 0, 255},
      {"cvt.sat.s8.s32 %r10, %r0;", static_cast<std::uint32_t>(-300), 0, 0, 0xffffff80},
  });
}

TEST_CASE("conversions to and from 16 bits: to nearest even, subnormal numbers, overflow") {
  check({
      {"cvt.rn.f16.f32 %h10, %f0;", bits(1.f + 0x1p-11f), 0, 0, f16_one},
      {"cvt.rn.f16.f32 %h10, %f0;", bits(1.f + 0x1.8p-10f), 0, 0, 0x3c02},
      {"cvt.rz.f16.f32 %h10, %f0;", bits(1.f + 0x1.8p-10f), 0, 0, 0x3c01},
      {"cvt.rn.f16.f32 %h10, %f0;", bits(0x1p-24f), 0, 0, f16_tiny},
      {"cvt.rn.f16.f32 %h10, %f0;", bits(0x1p-25f), 0, 0, 0},
      {"cvt.rn.f16.f32 %h10, %f0;", bits(65520.f), 0, 0, f16_inf},
      {"cvt.rz.f16.f32 %h10, %f0;", bits(65520.f), 0, 0, f16_most},
      {"cvt.f32.f16 %f10, %h0;", f16_tiny, 0, 0, bits(0x1p-24f)},
      {"cvt.f32.f16 %f10, %h0;", 0xfc00, 0, 0, bits(-inf)},
      {"cvt.rn.bf16.f32 %h10, %f0;", bits(1.f + 0x1p-8f), 0, 0, bf16_one},
      {"cvt.rn.bf16.f32 %h10, %f0;", bits(1.f + 0x1.8p-7f), 0, 0, 0x3f82},
      {"cvt.f32.bf16 %f10, %h0;", bf16_three, 0, 0, bits(3.f)},
      {"cvt.rn.f16x2.f32 %r10, %f0, %f1;", bits(2.f), bits(1.f), 0, 0x40003c00},
      {"cvt.rn.relu.bf16x2.f32 %r10, %f0, %f1;", bits(-2.f), bits(1.f), 0, 0x3f80},
      {"cvt.rna.tf32.f32 %r10, %f0;", bits(1.f), 0, 0, bits(1.f)},
  });
}
