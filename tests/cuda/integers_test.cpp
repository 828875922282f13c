// SPDX-License-Identifier: BSL-1.0
// Instructions on integers and bits, with results worked out by hand.
#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;

TEST_CASE("integers are added, multiplied, and divided") {
  check({
      {"add.s32 %r10, %r0, %r1;", 0xffffffff, 2, 0, 1},
      {"add.s64 %d10, %d0, %d1;", ~0ull, 2, 0, 1},
      {"add.u16 %h10, %h0, %h1;", 0xffff, 2, 0, 1},
      {"sub.s32 %r10, %r0, %r1;", 0, 1, 0, 0xffffffff},
      {"mul.lo.s32 %r10, %r0, %r1;", 0x10001, 0x10001, 0, 0x20001},
      {"mul.lo.u16 %h10, %h0, %h1;", 0xffff, 0xffff, 0, 1},
      {"mul.hi.u32 %r10, %r0, %r1;", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
      {"mul.hi.s32 %r10, %r0, %r1;", 0xffffffff, 0xffffffff, 0, 0},
      {"mul.hi.u64 %d10, %d0, %d1;", ~0ull, ~0ull, 0, ~0ull - 1},
      {"mul.hi.s64 %d10, %d0, %d1;", ~0ull, 5, 0, ~0ull},
      {"mul.wide.s32 %d10, %r0, %r1;", 0xffffffff, 7, 0, static_cast<std::uint64_t>(-7)},
      {"mul.wide.u32 %d10, %r0, %r1;", 0xffffffff, 7, 0, 0x6fffffff9},
      {"mul.wide.u16 %r10, %h0, %h1;", 0xffff, 0xffff, 0, 0xfffe0001},
      {"mad.lo.s32 %r10, %r0, %r1, %r2;", 3, 5, 0xfffffff0, 0xffffffff},
      {"mad.wide.u32 %d10, %r0, %r1, %d2;", 0x80000000, 4, 1, 0x200000001},
      {"mad.hi.u32 %r10, %r0, %r1, %r2;", 0x80000000, 4, 5, 7},
      {"div.s32 %r10, %r0, %r1;", static_cast<std::uint32_t>(-7), 2, 0, 0xfffffffd},
      {"div.s32 %r10, %r0, %r1;", 0x80000000, 0xffffffff, 0, 0x80000000},
      {"div.u32 %r10, %r0, %r1;", 0xfffffff9, 2, 0, 0x7ffffffc},
      {"rem.s32 %r10, %r0, %r1;", static_cast<std::uint32_t>(-7), 2, 0, 0xffffffff},
      {"rem.u64 %d10, %d0, %d1;", ~0ull, 10, 0, 5},
      {"min.s32 %r10, %r0, %r1;", 0xffffffff, 1, 0, 0xffffffff},
      {"min.u32 %r10, %r0, %r1;", 0xffffffff, 1, 0, 1},
      {"max.s64 %d10, %d0, %d1;", ~0ull, 1, 0, 1},
      {"neg.s32 %r10, %r0;", 5, 0, 0, 0xfffffffb},
      {"abs.s32 %r10, %r0;", 0x80000000, 0, 0, 0x80000000},
      {"abs.s64 %d10, %d0;", static_cast<std::uint64_t>(-9), 0, 0, 9},
  });
}

TEST_CASE("carries go from one word to the next") {
  check({
      {"add.cc.u32 %r11, %r0, %r1; addc.u32 %r10, %r2, 0;", 0xffffffff, 1, 7, 8},
      {"add.cc.u32 %r11, %r0, %r1; addc.u32 %r10, %r2, 0;", 0xfffffffe, 1, 7, 7},
      {"sub.cc.u32 %r11, %r0, %r1; subc.u32 %r10, %r2, 0;", 0, 1, 7, 6},
      {"mad.lo.cc.u32 %r11, %r0, %r1, %r2; madc.hi.u32 %r10, %r0, %r1, 0;", 0xffffffff, 2, 2, 2},
  });
}

TEST_CASE("bits are combined, shifted, and counted") {
  check({
      {"and.b32 %r10, %r0, %r1;", 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00},
      {"or.b64 %d10, %d0, %d1;", 1ull << 63, 1, 0, 0x8000000000000001},
      {"xor.b16 %h10, %h0, %h1;", 0xff00, 0x0ff0, 0, 0xf0f0},
      {"not.b32 %r10, %r0;", 0xff, 0, 0, 0xffffff00},
      {"shl.b32 %r10, %r0, %r1;", 3, 31, 0, 0x80000000},
      {"shl.b32 %r10, %r0, %r1;", 3, 32, 0, 0},
      {"shr.u32 %r10, %r0, %r1;", 0x80000000, 31, 0, 1},
      {"shr.s32 %r10, %r0, %r1;", 0x80000000, 31, 0, 0xffffffff},
      {"shr.s32 %r10, %r0, %r1;", 0x80000000, 99, 0, 0xffffffff},
      {"shr.u64 %d10, %d0, %r1;", 1ull << 63, 64, 0, 0},
      {"shr.s16 %h10, %h0, %r1;", 0x8000, 4, 0, 0xf800},
      {"shf.l.wrap.b32 %r10, %r0, %r1, %r2;", 0x80000001, 0x12345678, 4, 0x23456788},
      {"shf.r.wrap.b32 %r10, %r0, %r1, %r2;", 0x80000001, 0x12345678, 4, 0x88000000},
      {"shf.l.clamp.b32 %r10, %r0, %r1, %r2;", 0x80000001, 0x12345678, 40, 0x80000001},
      {"prmt.b32 %r10, %r0, %r1, %r2;", 0x33221100, 0x77665544, 0x7531, 0x77553311},
      {"prmt.b32 %r10, %r0, %r1, %r2;", 0x00000080, 0, 0x8888, 0xffffffff},
      {"lop3.b32 %r10, %r0, %r1, %r2, 0x96;", 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96969696},
      {"bfe.u32 %r10, %r0, 8, 8;", 0x12f45678, 0, 0, 0x56},
      {"bfe.s32 %r10, %r0, 16, 8;", 0x12f45678, 0, 0, 0xfffffff4},
      {"bfi.b32 %r10, %r0, %r1, 8, 8;", 0xab, 0x12345678, 0, 0x1234ab78},
      {"clz.b32 %r10, %r0;", 0x00010000, 0, 0, 15},
      {"clz.b32 %r10, %r0;", 0, 0, 0, 32},
      {"popc.b32 %r10, %r0;", 0xf0f0f0f1, 0, 0, 17},
      {"brev.b32 %r10, %r0;", 0x00000003, 0, 0, 0xc0000000},
  });
}

TEST_CASE("registers are moved, packed, and selected") {
  check({
      {"mov.b64 %d10, {%r0, %r1};", 1, 2, 0, 0x200000001},
      {"mov.b64 {%r11, %r10}, %d0;", 0x500000003, 0, 0, 5},
      {"mov.b32 %r10, {%h0, %h1};", 0x1111, 0x2222, 0, 0x22221111},
      {"mov.b32 {%h11, %h10}, %r0;", 0x44443333, 0, 0, 0x4444},
      {"setp.ne.s32 %p1, %r2, 0; selp.b32 %r10, %r0, %r1, %p1;", 5, 6, 1, 5},
      {"setp.ne.s32 %p1, %r2, 0; selp.b32 %r10, %r0, %r1, %p1;", 5, 6, 0, 6},
  });
}

TEST_CASE("integers are compared, signed or not, and combined with a predicate") {
  check({
      {"setp.lt.s32 %p10, %r0, %r1;", 0xffffffff, 1, 0, 1},
      {"setp.lt.u32 %p10, %r0, %r1;", 0xffffffff, 1, 0, 0},
      {"setp.hs.u32 %p10, %r0, %r1;", 0xffffffff, 1, 0, 1},
      {"setp.ge.s64 %p10, %d0, %d1;", 1ull << 63, 0, 0, 0},
      {"setp.gt.s16 %p10, %h0, %h1;", 0x8000, 0, 0, 0},
      {"setp.gt.u16 %p10, %h0, %h1;", 0x8000, 0, 0, 1},
      {"setp.eq.b64 %p10, %d0, %d1;", 7, 7, 0, 1},
      {"setp.eq.s32 %p1, %r2, 0; setp.lt.and.s32 %p10, %r0, %r1, %p1;", 1, 2, 0, 1},
      {"setp.eq.s32 %p1, %r2, 0; setp.lt.and.s32 %p10, %r0, %r1, !%p1;", 1, 2, 0, 0},
      {"setp.eq.s32 %p1, %r2, 0; setp.lt.or.s32 %p10, %r0, %r1, %p1;", 2, 1, 0, 1},
      {"setp.lt.s32 %p11|%p10, %r0, %r1;", 1, 2, 0, 0},
  });
}
