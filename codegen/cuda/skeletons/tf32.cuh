// SPDX-License-Identifier: BSL-1.0
#include "warps.cuh"
// Attention of f32 by tensor cores of TF32, from compute capability 8.0 on. Sums of 8 terms of
// scores, and of 16 of values, are added up in f32, because tensor cores round towards zero.

template <class Spec>
struct tf32_products : warp_tiles<Spec> {
  using tiles = warp_tiles<Spec>;
  using typename tiles::scores;
  using typename tiles::v_tile;
  static constexpr int BN = tiles::BN, MT = tiles::MT, steps = (Spec::D + 7) / 8,
                       values_at_once = 2, columns = (Spec::DV + 7) / 8;
  static constexpr bool spreads_infinities = true;  // the second part of an infinity is NaN

  // Queries lie in shared memory in two parts, and so do keys and values that several warps read.
  static constexpr bool queries_in_parts = true, keys_in_parts = Spec::WARPS > 1;

  // The numbers of a tile become their first parts; the second ones go to `low`.
  template <class Tile>
  static QKV_DEVICE void make_parts(unsigned at, unsigned low, int thread) {
#pragma unroll 4
    for (int e = thread; e < Tile::rows * Tile::pieces; e += tiles::threads) {
      float x[4];
      unsigned high[4], rest[4];
      load_four(x, at + static_cast<unsigned>(e) * 16);
#pragma unroll
      for (int k = 0; k < 4; ++k) split(x[k], high[k], rest[k]);
      store_four(at + static_cast<unsigned>(e) * 16, high);
      store_four(low + static_cast<unsigned>(e) * 16, rest);
    }
  }

  static QKV_DEVICE void add_product(float (&s)[4], const two_parts<4> &a, const two_parts<2> &b) {
    float part[4] = {};
    multiply(part, a, b);
#pragma unroll
    for (int e = 0; e < 4; ++e) s[e] += part[e];
  }

  static QKV_DEVICE void add_scores(scores &s, const tile_place &queries, int row0,
                                    const tile_place &keys, int lane) {
    const unsigned q = tiles::queries_of_lane(row0, lane), k = tiles::keys_of_lane(lane);
#pragma unroll
    for (int kk = 0; kk < steps; ++kk) {
      two_parts<4> qa[MT];
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        tiles::load_queries(qa[m].high, queries.at + q, m, kk);
        tiles::load_queries(qa[m].low, queries.low + q, m, kk);
      }
#pragma unroll
      for (int x = 0; x < BN / 16; ++x) {
        unsigned high[4], low[4];
        tiles::load_keys(high, keys.at + k, x, kk);
        if constexpr (keys_in_parts) tiles::load_keys(low, keys.low + k, x, kk);
        two_parts<2> b[2];
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if constexpr (keys_in_parts)
            b[e / 2].high[e % 2] = high[e], b[e / 2].low[e % 2] = low[e];
          else
            b[e / 2].set(e % 2, float_of_bits(static_cast<int>(high[e])));
#pragma unroll
        for (int m = 0; m < MT; ++m)
#pragma unroll
          for (int y = 0; y < 2; ++y) add_product(s[m][2 * x + y], qa[m], b[y]);
      }
    }
  }

  static QKV_DEVICE float exponent(float x, float most) { return (x - most) * tiles::factor; }

  // Of eight keys, tensor cores take the even ones first: a thread has those weights.
  static QKV_DEVICE void add_values(float (&o)[MT][columns][4], const scores &p,
                                    const tile_place &values, int lane) {
    const unsigned own[2] = {v_tile::of_element(lane % 4 * 2, lane / 4),
                             v_tile::of_element(lane % 4 * 2 + 1, lane / 4)};
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
      for (int first = 0; first < BN / 8; first += values_at_once) {
        float part[MT][4] = {};
        two_parts<2> b[values_at_once];
#pragma unroll
        for (int y = 0; y < values_at_once; ++y) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const unsigned at = v_tile::further(own[e], (first + y) * 8, 2 * x);
            if constexpr (keys_in_parts)
              b[y].high[e] = load_bits(values.at + at), b[y].low[e] = load_bits(values.low + at);
            else
              b[y].set(e, load_number(values.at + at));
          }
#pragma unroll
          for (int m = 0; m < MT; ++m) multiply_lower(part[m], weights[m][first + y], b[y]);
        }
#pragma unroll
        for (int y = 0; y < values_at_once; ++y)
#pragma unroll
          for (int m = 0; m < MT; ++m)
            multiply_tf32(part[m], weights[m][first + y].high, b[y].high);
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
