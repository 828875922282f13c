// SPDX-License-Identifier: BSL-1.0
#include "pairs.cuh"
#include "warps.cuh"
// Sums over keys of functions of the pairs and their products, which nothing normalises, times
// values: the gradients of an attention are such sums over the keys of a query, and over the
// queries of a key.
//   a block: BM rows of each product; warps with MT x 16 rows each; all tensors of keys come by
//   cp.async into two stages
//   for each tile of BN keys: S_p = R_p K_p' -> pairs of each sum -> O_s += W_s V_s, all of it in
//   registers
// `spec` gives sizes, addresses, the function of each sum, and the keys that rows see.

// The sums of a warp. Pairs of f16, which has few exponents, are multiplied by a power of two for
// each row, the largest with which none overflows.
template <class Spec, template <class> class Products, int S = 0, bool Exists = (S < Spec::SUMS)>
struct sums_from : sums_from<Spec, Products, S + 1> {
  using products = Products<sum_of<Spec, S>>;
  static constexpr bool has_units = is_same<typename Spec::element, f16_bits>;
  static constexpr int MT = products::MT;
  float o[MT][products::columns][4] = {};
  float unit[MT][2] = {};  // 0 before the first pair other than 0

  QKV_DEVICE void to_units(float (&w)[MT][Spec::BN / 8][4]) {
    if constexpr (has_units)
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float most = 0;
#pragma unroll
          for (int x = 0; x < Spec::BN / 8; ++x)
            most = larger(most, larger(magnitude(w[m][x][2 * h]), magnitude(w[m][x][2 * h + 1])));
          most = largest_of_four(most);
          if (most > 0 && (unit[m][h] == 0 || !(most * unit[m][h] < 0x1p15f))) {
            // Its product with the largest lies in [2^11, 2^12).
            const float now = float_of_bits(
                            least(largest(265 - (bits_of_float(most) >> 23), 1), 254) << 23),
                        scale = unit[m][h] == 0 ? 1.f : now / unit[m][h];
            unit[m][h] = now;
#pragma unroll
            for (int c = 0; c < products::columns; ++c)
              o[m][c][2 * h] *= scale, o[m][c][2 * h + 1] *= scale;
          }
#pragma unroll
          for (int x = 0; x < Spec::BN / 8; ++x)
            w[m][x][2 * h] *= unit[m][h], w[m][x][2 * h + 1] *= unit[m][h];
        }
  }
  QKV_DEVICE float of_units(int m, int h) const {
    return has_units && unit[m][h] != 0 ? 1 / unit[m][h] : 1.f;
  }
};
template <class Spec, template <class> class Products, int S>
struct sums_from<Spec, Products, S, false> {};

// The tiles of a block in shared memory: rows of each product, then two stages of all tensors of
// keys, which share the second parts.
template <class Spec, template <class> class Products>
struct pair_tiles {
  using number = typename Spec::number;
  using first_product = Products<product_of<Spec, 0>>;
  static constexpr int row_parts = 1 + first_product::queries_in_parts,
                       key_copies = 2 + first_product::keys_in_parts;
  template <int P>
  using rows = tile<Spec::BM, Spec::template features<P>, number>;
  template <int K>
  using keys = tile<Spec::BN, Spec::template key_columns<K>, number>;

  template <int P>
  static QKV_DEVICE tile_place rows_at(unsigned memory) {
    const unsigned at = memory + rows_before<pair_tiles, P>::value;
    return {at, at + rows<P>::bytes};
  }
  template <int K>
  static QKV_DEVICE tile_place keys_at(unsigned memory, int stage) {
    const unsigned at =
        memory + rows_before<pair_tiles, Spec::PRODUCTS>::value + keys_before<pair_tiles, K>::value;
    return {at + stage * keys<K>::bytes, at + 2 * keys<K>::bytes};
  }
};

template <class Spec, template <class> class Products>
QKV_DEVICE void sum_pairs(const typename Spec::arguments &a) {
  using tiles = pair_tiles<Spec, Products>;
  using first_product = typename tiles::first_product;
  constexpr int BM = Spec::BM, BN = Spec::BN, threads = Spec::WARPS * 32,
                MT = BM / (16 * Spec::WARPS),
                most = Spec::PRODUCTS > Spec::SUMS ? Spec::PRODUCTS : Spec::SUMS;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned first = shared_address(memory);
  const int thread = static_cast<int>(thread_of_block()), warp = thread / 32, lane = thread % 32,
            g = lane / 4, t = lane % 4;
  const int rows = Spec::n_rows(a), keys = Spec::n_keys(a);
  const block<Spec> own(a);
  const auto &at = own.at;
  const int i0 = own.i0, row0 = warp * MT * 16;
  using of_key = values_of_keys<Spec>;
  const unsigned values =
      first + rows_before<tiles, Spec::PRODUCTS>::value + keys_before<tiles, Spec::KEYS>::value;

  const auto load_keys = [&](int n, int stage) QKV_INLINE {
    for_each<Spec::KEYS>([&](auto k) QKV_INLINE {
      constexpr int K = decltype(k)::value;
      const auto *from = Spec::template keys<K>(a, at);
      const int stride = Spec::template keys_stride<K>(a);
      load_tile<typename tiles::template keys<K>, threads>(
          tiles::template keys_at<K>(first, stage).at, from, stride, n * BN, keys,
          is_aligned(from, stride), thread);
    });
    of_key::store(values + stage * of_key::bytes, a, at, n * BN, thread, threads);
  };
  for_each<Spec::PRODUCTS>([&](auto p) QKV_INLINE {
    constexpr int P = decltype(p)::value;
    const auto *from = Spec::template rows<P>(a, at);
    const int stride = Spec::template rows_stride<P>(a);
    load_tile<typename tiles::template rows<P>, threads>(tiles::template rows_at<P>(first).at, from,
                                                         stride, i0, rows, is_aligned(from, stride),
                                                         thread);
  });
  if (own.from < own.to) load_keys(own.from, 0);
  commit_copies();

  sums_from<Spec, Products> sums;
  const auto sum = [&](auto s) QKV_INLINE -> auto & {
    return static_cast<sums_from<Spec, Products, decltype(s)::value> &>(sums);
  };
  for (int n = own.from; n < own.to; ++n) {
    const int stage = (n - own.from) & 1, j0 = underived(n * BN);
    wait_for_copies<0>();  // these keys (and the rows) are there
    wait_for_block();      // and all warps have finished reading the other stage
    if (n + 1 < own.to) load_keys(n + 1, stage ^ 1);
    commit_copies();
    if constexpr (first_product::queries_in_parts) {
      if (n == own.from)
        for_each<Spec::PRODUCTS>([&](auto p) QKV_INLINE {
          constexpr int P = decltype(p)::value;
          const tile_place x = tiles::template rows_at<P>(first);
          first_product::template make_parts<typename tiles::template rows<P>>(x.at, x.low, thread);
        });
      if constexpr (first_product::keys_in_parts)
        for_each<Spec::KEYS>([&](auto k) QKV_INLINE {
          constexpr int K = decltype(k)::value;
          const tile_place x = tiles::template keys_at<K>(first, stage);
          first_product::template make_parts<typename tiles::template keys<K>>(x.at, x.low, thread);
        });
      if (first_product::keys_in_parts || n == own.from) wait_for_block();
    }

    // S_p = R_p K_p'
    float s[most][MT][BN / 8][4];
    for_each<Spec::PRODUCTS>([&](auto p) QKV_INLINE {
      constexpr int P = decltype(p)::value;
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 0; e < 4; ++e) s[P][m][x][e] = 0;
      Products<product_of<Spec, P>>::add_scores(
          s[P], tiles::template rows_at<P>(first), row0,
          tiles::template keys_at<Spec::template keys_of_product<P>>(first, stage), lane);
    });

    // The pairs; a tile of which nothing is hidden skips the mask.
    const auto pairs = [&](auto masked) QKV_INLINE {
#pragma unroll
      for (int x = 0; x < BN / 8; ++x) {
        const of_key neighbours(values + stage * of_key::bytes, x * 8 + t * 2);
#pragma unroll
        for (int m = 0; m < MT; ++m)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int i = i0 + row0 + m * 16 + g + e / 2 * 8, j = j0 + x * 8 + t * 2 + e % 2;
            const float dot0 = s[0][m][x][e],
                        dot1 = Spec::PRODUCTS > 1 ? s[Spec::PRODUCTS - 1][m][x][e] : 0.f;
            for_each_sum<Spec, masked.value>(
                a, at, i, j, dot0, dot1, neighbours.of[e % 2],
                [&](auto q, float w) QKV_INLINE { s[decltype(q)::value][m][x][e] = w; });
          }
      }
    };
    if (is_whole<Spec>(a, at, i0 + row0, i0 + row0 + MT * 16, j0, j0 + BN))
      pairs(constant<false>{});
    else
      pairs(constant<true>{});

    // O_s += W_s V_s
    for_each<Spec::SUMS>([&](auto q) QKV_INLINE {
      constexpr int S = decltype(q)::value;
      sum(q).to_units(s[S]);
      Products<sum_of<Spec, S>>::add_values(
          sum(q).o, s[S], tiles::template keys_at<Spec::template values_of_sum<S>>(first, stage),
          lane);
    });
  }
  wait_for_copies<0>();

  for_each<Spec::SUMS>([&](auto q) QKV_INLINE {
    constexpr int S = decltype(q)::value;
    using products = Products<sum_of<Spec, S>>;
    const result_rows<sum_of<Spec, S>> result(a, at);
    const auto &own_sum = sum(q);
    bool again = false;
#pragma unroll
    for (int m = 0; m < MT; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = i0 + row0 + m * 16 + g + h * 8;
        if (i >= rows) continue;
        const float factor = own_sum.of_units(m, h);
#pragma unroll
        for (int x = 0; x < products::columns; ++x) {
          const float low = own_sum.o[m][x][2 * h] * factor,
                      high = own_sum.o[m][x][2 * h + 1] * factor;
          again = again | is_undefined(low) | is_undefined(high);
          result.store(i, x * 8 + t * 2, low, high);
        }
      }
    if constexpr (Spec::is_masked || products::spreads_infinities)
      if (any_of_warp(again))
        for (int r = 0; r < MT * 16 && i0 + row0 + r < rows; ++r)
          compute_sum_of_row<Spec, S>(a, at, i0 + row0 + r, lane);
  });
}
