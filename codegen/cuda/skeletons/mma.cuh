// SPDX-License-Identifier: BSL-1.0
#include "warps.cuh"
// Attention of 16 bits by mma.sync, from compute capability 8.0 on. Weights
// are sums of one, two or three numbers of 16 bits, as many as the results need.

template <class Spec>
struct mma_products : warp_tiles<Spec> {
  using tiles = warp_tiles<Spec>;
  using T = typename Spec::element;
  using typename tiles::scores;
  using typename tiles::v_tile;
  static constexpr int BN = tiles::BN, MT = tiles::MT, columns = v_tile::padded_columns / 8,
                       parts = Spec::weight_parts;
  static constexpr bool spreads_infinities = false, queries_in_parts = false, keys_in_parts = false;

  static QKV_DEVICE void add_scores(scores &s, const tile_place &queries, int row0,
                                    const tile_place &keys, int lane) {
    const unsigned q = queries.at + tiles::queries_of_lane(row0, lane),
                   k = keys.at + tiles::keys_of_lane(lane);
#pragma unroll 2  // more steps would spill registers
    for (int kk = 0; kk < (Spec::D + 15) / 16; ++kk) {
      unsigned qa[MT][4];
#pragma unroll
      for (int m = 0; m < MT; ++m) tiles::load_queries(qa[m], q, m, kk);
#pragma unroll
      for (int x = 0; x < BN / 16; ++x) {
        unsigned b[4];
        tiles::load_keys(b, k, x, kk);
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          multiply<T>(s[m][2 * x], qa[m], b[0], b[1]);
          multiply<T>(s[m][2 * x + 1], qa[m], b[2], b[3]);
        }
      }
    }
  }

  static QKV_DEVICE float exponent(float x, float most) {
    return fused(x, tiles::factor, -(most * tiles::factor));
  }

  static QKV_DEVICE void add_values(float (&o)[MT][columns][4], const scores &p,
                                    const tile_place &values, int lane) {
    const unsigned v = values.at + v_tile::at(lane % 16, lane / 16);
#pragma unroll
    for (int kk = 0; kk < BN / 16; ++kk) {
      unsigned pa[parts][MT][4];
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float low = p[m][2 * kk + e / 2][e % 2 * 2], high = p[m][2 * kk + e / 2][e % 2 * 2 + 1];
#pragma unroll
          for (int part = 0; part < parts; ++part) pa[part][m][e] = part_of_pair<T>(low, high);
        }
#pragma unroll
      for (int x = 0; x < columns / 2; ++x) {
        unsigned b[4];
        load_matrices<true>(b, v_tile::further(v, kk * 16, 2 * x));
#pragma unroll
        for (int m = 0; m < MT; ++m) {
#pragma unroll
          for (int part = 0; part < parts; ++part) {
            multiply<T>(o[m][2 * x], pa[part][m], b[0], b[1]);
            multiply<T>(o[m][2 * x + 1], pa[part][m], b[2], b[3]);
          }
        }
      }
    }
  }
};

template <class Spec>
QKV_DEVICE void mma(const typename Spec::arguments &a) {
  attend_by_warps<Spec, mma_products<Spec>>(a);
}
