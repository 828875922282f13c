// SPDX-License-Identifier: BSL-1.0
#include "pairs.cuh"
#include "warpgroup.cuh"
// Sums over pairs on Hopper (compute capability 9.0), of bf16: products by wgmma.
//   warpgroup 0 copies the tiles of all tensors of keys into two stages, as they become free
//   warpgroups 1 and 2: 64 rows each; the pairs of one group are computed under the products of the
//   other; where registers suffice, the products of the next tile begin before the sums of this
//   one have ended
// BM is 128, and no tensor has more than 128 columns.

template <class Tile>
struct of_tile {
  using type = Tile;
};

template <class Spec>
struct wgmma_pair_sums {
  static constexpr int BM = Spec::BM, BN = Spec::BN, n_stages = 2, copying_registers = 40;
  static_assert(BM == 128 && (BN == 64 || BN == 128));
  template <int P>
  using rows = tile<BM, Spec::template features<P>, unsigned short>;
  template <int K>
  using keys = tile<BN, Spec::template key_columns<K>, unsigned short>;

  static constexpr int row_parts = 1, key_copies = n_stages;  // see rows_before, keys_before
  template <int P>
  static constexpr int rows_offset = rows_before<wgmma_pair_sums, P>::value;
  template <int K>
  static constexpr int keys_offset =
      rows_before<wgmma_pair_sums, Spec::PRODUCTS>::value + keys_before<wgmma_pair_sums, K>::value;
  using of_key = values_of_keys<Spec>;
  static constexpr int values = keys_offset<Spec::KEYS>,  // those of keys begin here
      bytes = values + n_stages * of_key::bytes;
  // Copying threads arrive when their copies are there, and when they have stored values.
  static constexpr int arrivals = of_key::N > 0 ? 256 : 128;
  // Warps free a stage; threads do where they have read values by themselves.
  static constexpr bool threads_free = of_key::N > 0;

  // The first warpgroup. Each thread arrives at a barrier once its copies are there.
  static QKV_DEVICE void copy(const typename Spec::arguments &a, const typename Spec::place &at,
                              int i0, int from, int tiles, unsigned memory, unsigned rows_full,
                              stages<n_stages> bars) {
    const int thread = static_cast<int>(thread_of_block());
    bool async = true;  // all copies of this tile
    const auto load = [&](auto shape, unsigned to, const unsigned short *from_memory, int stride,
                          int first, int n) QKV_INLINE {
      using tile_type = typename decltype(shape)::type;
      const bool aligned = is_aligned(from_memory, stride);
      async = async && aligned && tile_type::columns % tile_type::in_piece == 0;
      load_tile<tile_type, 128>(to, from_memory, stride, first, n, aligned, thread);
    };
    const auto announce = [&](unsigned bar) QKV_INLINE {
      if (async) {
        arrive_after_copies(bar);
      } else {
        wait_for_all_copies();
        arrive(bar);
      }
      async = true;
    };
    for_each<Spec::PRODUCTS>([&](auto p) QKV_INLINE {
      constexpr int P = decltype(p)::value;
      load(of_tile<rows<P>>{}, memory + rows_offset<P>, Spec::template rows<P>(a, at),
           Spec::template rows_stride<P>(a), i0, Spec::n_rows(a));
    });
    announce(rows_full);
    turn<n_stages> now;
    for (int n = 0; n < tiles; ++n, now.next()) {
      wait_for(bars.free(now.stage), (now.round & 1) ^ 1);
      for_each<Spec::KEYS>([&](auto k) QKV_INLINE {
        constexpr int K = decltype(k)::value;
        load(of_tile<keys<K>>{}, memory + keys_offset<K> + now.stage * keys<K>::bytes,
             Spec::template keys<K>(a, at), Spec::template keys_stride<K>(a), (from + n) * BN,
             Spec::n_keys(a));
      });
      of_key::store(memory + values + now.stage * of_key::bytes, a, at, (from + n) * BN, thread,
                    128);
      if constexpr (of_key::N > 0) arrive(bars.full(now.stage));
      announce(bars.full(now.stage));
    }
    wait_for_all_copies();  // none may be under way when the thread ends
  }
};

// The sums of a warpgroup, and the pairs of a tile as operands of its products.
template <class Spec, int S = 0, bool Exists = (S < Spec::SUMS)>
struct group_sums : group_sums<Spec, S + 1> {
  static constexpr int columns = tile<1, Spec::template columns<S>, unsigned short>::padded_columns;
  float o[columns / 2] = {};
  unsigned pairs[Spec::BN / 4];
  static constexpr int registers = columns / 2 + Spec::BN / 4 + group_sums<Spec, S + 1>::registers;
};
template <class Spec, int S>
struct group_sums<Spec, S, false> {
  static constexpr int registers = 0;
};

template <class Spec>
QKV_DEVICE void pair_sums_wgmma(const typename Spec::arguments &a) {
  using W = wgmma_pair_sums<Spec>;
  using T = typename Spec::element;
  constexpr int BM = W::BM, BN = W::BN;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned first = shared_address(memory), rows_full = first + W::bytes;
  const stages<W::n_stages> bars{rows_full + 8};
  const int rows = Spec::n_rows(a);
  const block<Spec> own(a);
  const auto &at = own.at;
  const int i0 = own.i0, from = own.from, tiles = largest(own.to - from, 0);
  const int group = static_cast<int>(thread_of_block()) / 128;

  if (thread_of_block() == 0) {
    init_barrier(rows_full, 128);
    bars.init(W::arrivals, W::threads_free ? 256 : 8);
    publish_barriers();
    publish();
  }
  wait_for_block();

  if (group == 0) {
    give_registers<W::copying_registers>();
    W::copy(a, at, i0, from, tiles, first, rows_full, bars);
    return;
  }
  take_registers<(504 - W::copying_registers) / 2>();
  const int thread = static_cast<int>(thread_of_block()) % 128, warp = thread / 32,
            lane = thread % 32, g = lane / 4, t = lane % 4, row0 = (group - 1) * 64 + warp * 16;
  group_sums<Spec> sums;
  const auto sum = [&](auto s) QKV_INLINE -> auto & {
    return static_cast<group_sums<Spec, decltype(s)::value> &>(sums);
  };
  using products = float[Spec::PRODUCTS][BN / 2];
  // Pairs beside the products of the next tile, or all pairs beside their own products, may need
  // more registers than there are.
  constexpr bool overlaps = group_sums<Spec>::registers + Spec::PRODUCTS * BN / 2 <= 192;
  constexpr int parts = overlaps ? 1 : 2;

  // dots = rows keys'
  const auto multiply = [&](products &dots, int stage) QKV_INLINE {
    begin_products();
    for_each<Spec::PRODUCTS>([&](auto p) QKV_INLINE {
      constexpr int P = decltype(p)::value, K = Spec::template keys_of_product<P>,
                    steps = (Spec::template features<P> + 15) / 16;
      const shared_operand x(first + W::template rows_offset<P> + (group - 1) * 64 * 128),
          y(first + W::template keys_offset<K> + stage * W::template keys<K>::bytes);
#pragma unroll
      for (int kk = 0; kk < steps; ++kk)
        product_of_tiles<T>(dots[P], x.further(kk / 4 * BM * 128 + kk % 4 * 32),
                            y.further(kk / 4 * BN * 128 + kk % 4 * 32), kk > 0);
    });
    commit_products();
  };
  // o += pairs values, of the keys of one part of the tile
  const auto add = [&](int stage, auto part) QKV_INLINE {
    constexpr int first_step = decltype(part)::value * BN / 16 / parts;
    begin_products();
    for_each<Spec::SUMS>([&](auto s) QKV_INLINE {
      constexpr int K = Spec::template values_of_sum<decltype(s)::value>;
      const shared_operand v(
          first + W::template keys_offset<K> + stage * W::template keys<K>::bytes, BN * 128);
#pragma unroll
      for (int kk = first_step; kk < first_step + BN / 16 / parts; ++kk)
        add_product<T>(sum(s).o, sum(s).pairs + 4 * kk, v.further(kk * 16 * 128));
    });
    commit_products();
  };
  const auto compute_pairs = [&](const products &dots, int n, int stage, auto part) QKV_INLINE {
    constexpr int first_x = decltype(part)::value * BN / 8 / parts;
    const int j0 = underived((from + n) * BN);
    const unsigned values = first + W::values + stage * W::of_key::bytes;
    const auto elements = [&](auto masked) QKV_INLINE {
#pragma unroll
      for (int x = first_x; x < first_x + BN / 8 / parts; ++x) {
        const typename W::of_key neighbours(values, x * 8 + t * 2);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int e = 4 * x + 2 * h, i = i0 + row0 + g + h * 8, j = j0 + x * 8 + t * 2;
          float low[Spec::SUMS];
          const auto pairs_at = [&](int k, const auto &set) QKV_INLINE {
            for_each_sum<Spec, masked.value>(
                a, at, i, j + k, dots[0][e + k],
                Spec::PRODUCTS > 1 ? dots[Spec::PRODUCTS - 1][e + k] : 0.f, neighbours.of[k], set);
          };
          pairs_at(0, [&](auto s, float w) QKV_INLINE { low[decltype(s)::value] = w; });
          pairs_at(1, [&](auto s, float w) QKV_INLINE {
            sum(s).pairs[e / 2] = rounded_pair<T>(low[decltype(s)::value], w);
          });
        }
      }
    };
    if (is_whole<Spec>(a, at, i0 + row0, i0 + row0 + 16, j0, j0 + BN))
      elements(constant<false>{});
    else
      elements(constant<true>{});
  };

  const auto free_stage = [&](int stage) QKV_INLINE {
    if (W::threads_free || lane == 0) arrive(bars.free(stage));
  };
  const auto end_sums = [&]() QKV_INLINE {
    wait_for_products<0>();
    for_each<Spec::SUMS>([&](auto s) QKV_INLINE { pin(sum(s).o); });
  };

  if (tiles > 0) {
    wait_for(rows_full, 0);
    turn<W::n_stages> before, now;
    for (int n = 0; n < tiles; ++n) {
      wait_for(bars.full(now.stage), now.round & 1);
      publish();
      products dots;  // undefined, so that no register holds those of the last tile
      multiply(dots, now.stage);
      if (overlaps && n > 0) {
        wait_for_products<1>();
        free_stage(before.stage);
      }
      wait_for_products<0>();
#pragma unroll
      for (int p = 0; p < Spec::PRODUCTS; ++p) pin(dots[p]);
      for_each<parts>([&](auto part) QKV_INLINE {
        compute_pairs(dots, n, now.stage, part);
        add(now.stage, part);
      });
      if constexpr (!overlaps) {
        end_sums();
        free_stage(now.stage);
      }
      before = now;
      now.next();
    }
    if constexpr (overlaps) end_sums();
  }

  for_each<Spec::SUMS>([&](auto s) QKV_INLINE {
    constexpr int S = decltype(s)::value;
    const result_rows<sum_of<Spec, S>> result(a, at);
    const auto &o = sum(s).o;
    bool undefined = false;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = i0 + row0 + g + h * 8;
      if (i >= rows) continue;
#pragma unroll
      for (int x = 0; x < group_sums<Spec, S>::columns / 8; ++x) {
        const float low = o[4 * x + 2 * h], high = o[4 * x + 2 * h + 1];
        undefined = undefined | is_undefined(low) | is_undefined(high);
        result.store(i, x * 8 + t * 2, low, high);
      }
    }
    if constexpr (Spec::is_masked)
      if (any_of_warp(undefined))
        for (int r = 0; r < 16 && i0 + row0 + r < rows; ++r)
          compute_sum_of_row<Spec, S>(a, at, i0 + row0 + r, lane);
  });
}
