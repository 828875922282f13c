#include "warps.cuh"
// Attention of f32 by tensor cores of TF32, from compute capability 8.0 on. A number is the sum of
// two of TF32, and a product three of theirs: 22 bits. Tensor cores round sums towards zero, so
// that sums begin anew every 16 terms and are added in f32.

// c += a b: 16 x 8 += 16 x 8 by 8 x 8.
QKV_DEVICE void multiply_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Numbers as sums of two of TF32.
template <int N>
struct two_parts {
  unsigned high[N], low[N];
  QKV_DEVICE void set(int i, float x) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high[i]) : "f"(x));
    const float rest = x - float_of_bits(static_cast<int>(high[i]));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low[i]) : "f"(rest));
  }
};

QKV_DEVICE void multiply(float (&c)[4], const two_parts<4> &a, const two_parts<2> &b) {
  multiply_tf32(c, a.low, b.high);
  multiply_tf32(c, a.high, b.low);
  multiply_tf32(c, a.high, b.high);
}

template <class Spec>
struct tf32_products : warp_tiles<Spec> {
  using tiles = warp_tiles<Spec>;
  using typename tiles::scores;
  using typename tiles::v_tile;
  static constexpr int BN = tiles::BN, MT = tiles::MT, steps = (Spec::D + 7) / 8, steps_at_once = 2,
                       columns = (Spec::DV + 7) / 8;
  static constexpr bool spreads_infinities = true;  // the second part of an infinity is NaN

  static QKV_DEVICE void add_scores(scores &s, unsigned queries, int row0, unsigned keys,
                                    int lane) {
#pragma unroll
    for (int first = 0; first < steps; first += steps_at_once) {
      scores part = {};
#pragma unroll
      for (int kk = first; kk < first + steps_at_once; ++kk) {
        if (kk >= steps) break;
        unsigned r[4];
        two_parts<4> qa[MT];
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          tiles::load_queries(r, queries, row0 + m * 16, kk, lane);
#pragma unroll
          for (int e = 0; e < 4; ++e) qa[m].set(e, float_of_bits(static_cast<int>(r[e])));
        }
#pragma unroll
        for (int x = 0; x < BN / 16; ++x) {
          tiles::load_keys(r, keys, x * 16, kk, lane);
          two_parts<2> b[2];
#pragma unroll
          for (int e = 0; e < 4; ++e) b[e / 2].set(e % 2, float_of_bits(static_cast<int>(r[e])));
#pragma unroll
          for (int m = 0; m < MT; ++m) {
            multiply(part[m][2 * x], qa[m], b[0]);
            multiply(part[m][2 * x + 1], qa[m], b[1]);
          }
        }
      }
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 0; e < 4; ++e) s[m][x][e] += part[m][x][e];
    }
  }

  static QKV_DEVICE float exponent(float x, float most) { return (x - most) * tiles::factor; }

  // Of eight keys, tensor cores take the even ones first: a thread has those weights.
  static QKV_DEVICE void add_values(float (&o)[MT][columns][4], const scores &p, unsigned values,
                                    int lane) {
    const int g = lane / 4, t = lane % 4;
    two_parts<4> weights[MT][BN / 8];
#pragma unroll
    for (int m = 0; m < MT; ++m)
#pragma unroll
      for (int y = 0; y < BN / 8; ++y)
#pragma unroll
        for (int e = 0; e < 4; ++e) weights[m][y].set(e, p[m][y][e % 2 * 2 + e / 2]);
#pragma unroll
    for (int x = 0; x < columns; ++x) {
#pragma unroll
      for (int first = 0; first < BN / 8; first += steps_at_once) {
        float part[MT][4] = {};
#pragma unroll
        for (int y = first; y < first + steps_at_once; ++y) {
          two_parts<2> b;
#pragma unroll
          for (int e = 0; e < 2; ++e)
            b.set(e, load_number(values + v_tile::of_element(y * 8 + 2 * t + e, x * 8 + g)));
#pragma unroll
          for (int m = 0; m < MT; ++m) multiply(part[m], weights[m][y], b);
        }
#pragma unroll
        for (int m = 0; m < MT; ++m)
#pragma unroll
          for (int e = 0; e < 4; ++e) o[m][x][e] += part[m][e];
      }
    }
  }
};

template <class Spec>
QKV_DEVICE void tf32(const typename Spec::arguments &a) {
  attend_by_warps<Spec, tf32_products<Spec>>(a);
}
