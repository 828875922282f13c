// SPDX-License-Identifier: BSL-1.0
#include "attention.cuh"
#include "products.cuh"
// Attention whose warps compute alone; the scheme of FlashAttention-2 (Dao 2023).
//   a block: BM queries; WARPS warps with MT x 16 rows each; keys and values come by cp.async into
//   two stages each
//   for each tile of BN keys: S = Q K' -> score -> mask -> running maximum and sum -> O += P V, all
//   of it in registers
// `spec` gives sizes, addresses, score, mask, and the keys that rows see; the products M:
//   queries_in_parts, keys_in_parts: whether numbers become two parts each in shared memory
//   make_parts<tile>(at, low, thread): does that
//   add_scores(s, queries, first row, keys, lane): s += Q K'
//   add_values(o, weights, values, lane): o += P V
//   exponent(score, maximum): of 2
//   columns: of o, by eights; spreads_infinities: whether one makes other elements NaN
// A thread of a warp has, of rows g and g + 8 of 16, two neighbours of every eight columns.

// In shared memory; the second parts lie apart.
struct tile_place {
  unsigned at, low;
};

template <class Spec>
struct warp_tiles {
  using number = typename Spec::number;
  static constexpr int BM = Spec::BM, BN = Spec::BN, threads = Spec::WARPS * 32,
                       MT = BM / (16 * Spec::WARPS);
  using q_tile = tile<BM, Spec::D, number>;
  using k_tile = tile<BN, Spec::D, number>;
  using v_tile = tile<BN, Spec::DV, number>;
  using scores = float[MT][BN / 8][4];
  static constexpr float factor = exponent_factor<Spec>;

  // The address that a lane reads in the first 16 rows of a warp, and in the first 16 keys; two
  // pieces a step.
  static QKV_DEVICE unsigned queries_of_lane(int row0, int lane) {
    return q_tile::at(row0 + lane % 16, lane / 16);
  }
  static QKV_DEVICE unsigned keys_of_lane(int lane) {
    return k_tile::at(lane % 8 + lane / 16 * 8, lane / 8 % 2);
  }
  static QKV_DEVICE void load_queries(unsigned (&r)[4], unsigned of_lane, int m, int step) {
    load_matrices<false>(r, q_tile::further(of_lane, m * 16, 2 * step));
  }
  static QKV_DEVICE void load_keys(unsigned (&r)[4], unsigned of_lane, int x, int step) {
    load_matrices<false>(r, k_tile::further(of_lane, x * 16, 2 * step));
  }
};

// The queries of a tile that has rows of several heads.
template <class Spec, class Tile, int Threads>
QKV_DEVICE void load_folded_queries(unsigned to, const typename Spec::arguments &a,
                                    const typename Spec::place &at, int first, int thread) {
  using number = typename Spec::number;
  for (int e = thread; e < Tile::rows * Tile::pieces; e += Threads) {
    const int r = e / Tile::pieces, c = e % Tile::pieces;
    const query_row<Spec> own(a, at, first + r);
    const bool exists = first + r < rows_of_place<Spec>(a);
    const number *row = Spec::queries(a, own.at) +
                        static_cast<long long>(own.i) * Spec::queries_stride(a) +
                        c * Tile::in_piece;
    if (Tile::columns % Tile::in_piece == 0 && is_aligned(row, 0)) {
      copy_16(to + Tile::at(r, c), row, exists && c * Tile::in_piece < Tile::columns);
    } else {
      for (int k = 0; k < Tile::in_piece; ++k)
        store_number(to + Tile::of_element(r, c * Tile::in_piece + k),
                     exists && c * Tile::in_piece + k < Tile::columns ? row[k] : number(0));
    }
  }
}

// Partial result of one row, over the keys of one block: maximum, sum of weights, unnormalised
// output.
template <class Spec>
QKV_DEVICE float *partial_result(const typename Spec::arguments &a, int position, int row,
                                 int split) {
  const long long of_all = static_cast<long long>(position) * rows_of_place<Spec>(a) + row;
  return Spec::partial(a) + (of_all * Spec::n_splits(a) + split) * Spec::RECORD;
}

// The results of these blocks become one; a warp has one row.
template <class Spec>
QKV_DEVICE void merge(const typename Spec::arguments &a) {
  constexpr int columns = (Spec::DV + 31) / 32;
  const int lane = static_cast<int>(thread_of_block()) % 32,
            own = static_cast<int>(block_of_grid()) * Spec::MERGE_WARPS +
                  static_cast<int>(thread_of_block()) / 32,
            rows = rows_of_place<Spec>(a), n = Spec::n_splits(a);
  if (rows == 0 || own / rows >= Spec::n_places(a)) return;
  const typename Spec::place place = Spec::at(a, static_cast<unsigned>(own / rows), Spec::FOLDS);
  const query_row<Spec> row(a, place, own % rows);
  const float *const first = partial_result<Spec>(a, own / rows, own % rows, 0);
  float most = -infinity();
  for (int s = lane; s < n; s += 32) most = larger(most, first[s * Spec::RECORD]);
  most = largest_of_warp(most);
  const float base = finite(most);
  float total = 0, o[columns] = {};
#pragma unroll 4
  for (int s = 0; s < n; ++s) {
    const float *part = first + s * Spec::RECORD;
    const float scale = power_of_two(part[0] - base);
    total += part[1] * scale;
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (c * 32 + lane < Spec::DV) o[c] += part[2 + c * 32 + lane] * scale;
  }
  const bool undefined = store_row<Spec>(a, row.at, row.i, o, most, total, lane);
  if constexpr (Spec::is_masked || is_same<typename Spec::element, f32_number>)
    if (any_of_warp(undefined)) compute_row<Spec>(a, row.at, row.i, lane);
}

template <class Spec, class M>
QKV_DEVICE void attend_by_warps(const typename Spec::arguments &a) {
  constexpr int BM = M::BM, BN = M::BN, MT = M::MT, threads = M::threads;
  extern __shared__ __align__(1024) unsigned char memory[];
  constexpr int in_parts = M::keys_in_parts;
  using k_tile = typename M::k_tile;
  using v_tile = typename M::v_tile;
  const unsigned first = shared_address(memory);
  const tile_place sq{first, first + M::q_tile::bytes};
  const unsigned sk = first + (1 + M::queries_in_parts) * M::q_tile::bytes,
                 sv = sk + (2 + in_parts) * k_tile::bytes;
  // Two stages each, which share the second parts.
  const auto keys_at = [&](int stage) QKV_INLINE {
    return tile_place{sk + stage * k_tile::bytes, sk + 2 * k_tile::bytes};
  };
  const auto values_at = [&](int stage) QKV_INLINE {
    return tile_place{sv + stage * v_tile::bytes, sv + 2 * v_tile::bytes};
  };
  const int thread = static_cast<int>(thread_of_block()), warp = thread / 32, lane = thread % 32,
            g = lane / 4, t = lane % 4;
  const int rows = rows_of_place<Spec>(a), keys = Spec::n_keys(a);
  const block<Spec> own(a);
  const operands<Spec> x(a, own.at);
  const auto &at = own.at;
  const int i0 = own.i0;
  const auto load_keys = [&](int n, int stage) QKV_INLINE {
    load_tile<k_tile, threads>(keys_at(stage).at, x.k, x.k_stride, n * BN, keys, x.k_aligned,
                               thread);
  };
  const auto load_values = [&](int n, int stage) QKV_INLINE {
    load_tile<v_tile, threads>(values_at(stage).at, x.v, x.v_stride, n * BN, keys, x.v_aligned,
                               thread);
  };
  if constexpr (Spec::FOLDS)
    load_folded_queries<Spec, typename M::q_tile, threads>(sq.at, a, at, i0, thread);
  else
    load_tile<typename M::q_tile, threads>(sq.at, x.q, x.q_stride, i0, rows, x.q_aligned, thread);
  if (own.from < own.to) load_keys(own.from, 0);
  commit_copies();
  if (own.from < own.to) load_values(own.from, 0);
  commit_copies();

  float o[MT][M::columns][4] = {}, most[MT][2], sum[MT][2] = {};
#pragma unroll
  for (int m = 0; m < MT; ++m) most[m][0] = most[m][1] = -infinity();
  const int row0 = warp * MT * 16;

  for (int n = own.from; n < own.to; ++n) {
    const int stage = (n - own.from) & 1, j0 = underived(n * BN);
    wait_for_copies<1>();  // these keys (and the queries) are there
    wait_for_block();      // and all warps have finished reading the other stage
    if (n + 1 < own.to) load_keys(n + 1, stage ^ 1);
    commit_copies();
    if constexpr (M::queries_in_parts) {
      const tile_place k = keys_at(stage);
      if (n == own.from) M::template make_parts<typename M::q_tile>(sq.at, sq.low, thread);
      if constexpr (M::keys_in_parts) M::template make_parts<k_tile>(k.at, k.low, thread);
      if (M::keys_in_parts || n == own.from) wait_for_block();
    }

    // S = Q K'
    float s[MT][BN / 8][4] = {};
    M::add_scores(s, sq, row0, keys_at(stage), lane);

    // The scores; a tile of which nothing is hidden skips the mask.
    const auto scores = [&](auto masked) QKV_INLINE {
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const query_row<Spec> q(a, at, i0 + row0 + m * 16 + g + e / 2 * 8);
            const int j = j0 + x * 8 + t * 2 + e % 2;
            s[m][x][e] = score_of<Spec>(a, q.at, q.i, j, s[m][x][e]);
            if constexpr (masked.value)
              s[m][x][e] = is_visible<Spec>(a, q.at, q.i, j) ? s[m][x][e] : -infinity();
          }
    };
    const range positions = positions_of_rows<Spec>(a, i0 + row0, i0 + row0 + MT * 16);
    if (is_whole<Spec>(a, at, positions.first, positions.end, j0, j0 + BN))
      scores(constant<false>{});
    else
      scores(constant<true>{});

    // The running maximum and sum; what was summed up before is scaled.
#pragma unroll
    for (int m = 0; m < MT; ++m) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float now = most[m][h];
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
          now = larger(now, larger(s[m][x][2 * h], s[m][x][2 * h + 1]));
        now = largest_of_four(now);
        const float base = finite(now),
                    scale = now == most[m][h] ? 1.f : power_of_two(M::exponent(most[m][h], base));
        most[m][h] = now;
        float total = 0;
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; ++e)
            total += s[m][x][e] = power_of_two(M::exponent(s[m][x][e], base));
        sum[m][h] = sum[m][h] * scale + total;
#pragma unroll
        for (int x = 0; x < M::columns; ++x) o[m][x][2 * h] *= scale, o[m][x][2 * h + 1] *= scale;
      }
    }

    // O += P V
    wait_for_copies<1>();  // these values are there
    wait_for_block();
    if (n + 1 < own.to) load_values(n + 1, stage ^ 1);
    commit_copies();
    const tile_place values = values_at(stage);
    if constexpr (M::keys_in_parts) {
      M::template make_parts<v_tile>(values.at, values.low, thread);
      wait_for_block();
    }
    M::add_values(o, s, values, lane);
  }
  wait_for_copies<0>();

  if constexpr (Spec::SPLITS)
    if (Spec::n_splits(a) > 1) {
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float total = sum_of_four(sum[m][h]);
          const int row = i0 + row0 + m * 16 + g + h * 8;
          if (row >= rows) continue;
          float *const part = partial_result<Spec>(a, own.position, row, own.split);
          if (t == 0) store_pair(part, most[m][h] * M::factor, total);
#pragma unroll
          for (int x = 0; x < M::columns; ++x)
            if (x * 8 + t * 2 < Spec::DV)
              store_pair(part + 2 + x * 8 + t * 2, o[m][x][2 * h], o[m][x][2 * h + 1]);
        }
      return;
    }
  bool undefined = false;
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float total = sum_of_four(sum[m][h]);
      const float inverse = total == 0 ? 0.f : 1 / total;
      const int row = i0 + row0 + m * 16 + g + h * 8;
      if (row >= rows) continue;
      const query_row<Spec> q(a, at, row);
      const result_rows<Spec> result(a, q.at);
#pragma unroll
      for (int x = 0; x < M::columns; ++x) {
        const float low = o[m][x][2 * h] * inverse, high = o[m][x][2 * h + 1] * inverse;
        undefined = undefined | is_undefined(low) | is_undefined(high);
        result.store(q.i, x * 8 + t * 2, low, high);
      }
      if constexpr (Spec::has_lse)
        if (t == 0) store_lse<Spec>(a, q.at, q.i, most[m][h] * exponent_factor<Spec>, total);
    }
  if constexpr (Spec::is_masked || M::spreads_infinities)
    compute_again<Spec>(undefined, a, at, i0 + row0, MT * 16, lane);
}
