// SPDX-License-Identifier: BSL-1.0
#include "common.cuh"
// Products of fragments by mma.sync, from compute capability 8.0 on. A thread has, of 16 x 8 sums,
// two neighbours in rows g and g + 8. Tensor cores round sums towards zero.

// ---- 16 bits ------------------------------------------------------------------------------------
// c += a b: 16 x 8 += 16 x 16 by 16 x 8.
template <class Element>
QKV_DEVICE void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#define QKV_MULTIPLY(type)                                                  \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type       \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (is_same<Element, bf16_bits>)
    QKV_MULTIPLY("bf16");
  else
    QKV_MULTIPLY("f16");
#undef QKV_MULTIPLY
}

// ---- f32 ----------------------------------------------------------------------------------------
// c += a b: 16 x 8 += 16 x 8 by 8 x 8.
QKV_DEVICE void multiply_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A number of f32 is the sum of two of TF32, and a product three of theirs: 22 bits.
// Tensor cores read the upper 19 bits; adding and masking is faster than the conversion.
QKV_DEVICE void split(float x, unsigned &high, unsigned &low) {
  high = (static_cast<unsigned>(bits_of_float(x)) + 0x1000u) & 0xffffe000u;
  low = static_cast<unsigned>(bits_of_float(x - float_of_bits(static_cast<int>(high))));
}
template <int N>
struct two_parts {
  unsigned high[N], low[N];
  QKV_DEVICE void set(int i, float x) { split(x, high[i], low[i]); }
};

// Sums of the lower products are small: of several products, they come first, so that few steps
// round whole sums.
QKV_DEVICE void multiply_lower(float (&c)[4], const two_parts<4> &a, const two_parts<2> &b) {
  multiply_tf32(c, a.low, b.high);
  multiply_tf32(c, a.high, b.low);
}
QKV_DEVICE void multiply(float (&c)[4], const two_parts<4> &a, const two_parts<2> &b) {
  multiply_lower(c, a, b);
  multiply_tf32(c, a.high, b.high);
}
