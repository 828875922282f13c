#include "common.cuh"
// Attention whose warps compute alone; the scheme of FlashAttention-2 (Dao 2023).
//   a block: BM queries; WARPS warps with MT x 16 rows each; keys and values come by cp.async into
//   two stages each
//   for each tile of BN keys: S = Q K' -> score -> mask -> running maximum and sum -> O += P V, all
//   of it in registers
// `spec` gives sizes, addresses, score, mask, and the keys that rows see; the products M:
//   add_scores(s, queries, first row, keys, lane): s += Q K'
//   add_values(o, weights, values, lane): o += P V
//   exponent(score, maximum): of 2
//   columns: of o, by eights; spreads_infinities: whether one makes other elements NaN
// A thread of a warp has, of rows g and g + 8 of 16, two neighbours of every eight columns.

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

  // Of 16 rows of queries, and of 16 keys, two pieces of a step each.
  static QKV_DEVICE void load_queries(unsigned (&r)[4], unsigned queries, int row, int step,
                                      int lane) {
    load_matrices<false>(r, queries + q_tile::at(row + lane % 16, 2 * step + lane / 16));
  }
  static QKV_DEVICE void load_keys(unsigned (&r)[4], unsigned keys, int key, int step, int lane) {
    load_matrices<false>(
        r, keys + k_tile::at(key + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
  }
};

template <class Spec, class M>
QKV_DEVICE void attend_by_warps(const typename Spec::arguments &a) {
  constexpr int BM = M::BM, BN = M::BN, MT = M::MT, threads = M::threads;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned sq = shared_address(memory), sk = sq + M::q_tile::bytes,
                 sv = sk + 2 * M::k_tile::bytes;
  const int thread = static_cast<int>(thread_of_block()), warp = thread / 32, lane = thread % 32,
            g = lane / 4, t = lane % 4;
  const int rows = Spec::n_rows(a), keys = Spec::n_keys(a);
  const block<Spec> own(a);
  const operands<Spec> x(a, own.at);
  const auto &at = own.at;
  const int i0 = own.i0;
  const auto load_keys = [&](int n, int stage) QKV_INLINE {
    load_tile<typename M::k_tile, threads>(sk + stage * M::k_tile::bytes, x.k, x.k_stride, n * BN,
                                           keys, x.aligned, thread);
  };
  const auto load_values = [&](int n, int stage) QKV_INLINE {
    load_tile<typename M::v_tile, threads>(sv + stage * M::v_tile::bytes, x.v, x.v_stride, n * BN,
                                           keys, x.aligned, thread);
  };
  load_tile<typename M::q_tile, threads>(sq, x.q, x.q_stride, i0, rows, x.aligned, thread);
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
    wait_for_block();      // and everybody has done with the other stage
    if (n + 1 < own.to) load_keys(n + 1, stage ^ 1);
    commit_copies();

    // S = Q K'
    float s[MT][BN / 8][4] = {};
    M::add_scores(s, sq, row0, sk + stage * M::k_tile::bytes, lane);

    // The scores; a tile of which nothing is hidden skips the mask.
    const auto scores = [&](auto masked) QKV_INLINE {
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int i = i0 + row0 + m * 16 + g + e / 2 * 8, j = j0 + x * 8 + t * 2 + e % 2;
            s[m][x][e] = score_of<Spec>(a, at, i, j, s[m][x][e]);
            if constexpr (masked.value)
              s[m][x][e] = is_visible<Spec>(a, at, i, j) ? s[m][x][e] : -infinity();
          }
    };
    if (is_whole<Spec>(a, at, i0 + row0, i0 + row0 + MT * 16, j0, j0 + BN))
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
        // Nothing seen yet: the weights are 0 then, not NaN.
        const float base = now == -infinity() ? 0.f : now;
        const float scale = power_of_two(M::exponent(most[m][h], base));
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
    M::add_values(o, s, sv + stage * M::v_tile::bytes, lane);
  }
  wait_for_copies<0>();

  const result_rows<Spec> result(a, at);
  bool undefined = false;
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float total = sum_of_four(sum[m][h]);
      const float inverse = total == 0 ? 0.f : 1 / total;
      const int i = i0 + row0 + m * 16 + g + h * 8;
      if (i >= rows) continue;
#pragma unroll
      for (int x = 0; x < M::columns; ++x) {
        const float low = o[m][x][2 * h] * inverse, high = o[m][x][2 * h + 1] * inverse;
        undefined = undefined | is_undefined(low) | is_undefined(high);
        result.store(i, x * 8 + t * 2, low, high);
      }
      if constexpr (Spec::has_lse)
        if (t == 0) store_lse<Spec>(a, at, i, most[m][h] * exponent_factor<Spec>, total);
    }
  if constexpr (Spec::is_masked || M::spreads_infinities)
    compute_again<Spec>(undefined, a, at, i0 + row0, MT * 16, lane);
}
