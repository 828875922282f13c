// Attention by mma.sync, from compute capability 8.0 on; the scheme of FlashAttention-2 (Dao 2023).
//   a block: BM queries; WARPS warps with MT x 16 rows each; keys and values come by cp.async into
//   two stages each
//   for each tile of BN keys: S = Q K' -> score -> mask -> running maximum and sum -> O += P V, all
//   of it in registers
// `spec` gives sizes, addresses, score, mask, and the keys that rows see.

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

template <class Spec>
struct mma_attention {
  using T = typename Spec::element;
  using A = const typename Spec::arguments &;
  static constexpr int D = Spec::D, DV = Spec::DV, BM = Spec::BM, BN = Spec::BN,
                       threads = Spec::WARPS * 32, MT = BM / (16 * Spec::WARPS);
  using q_tile = tile<BM, D, unsigned short>;
  using k_tile = tile<BN, D, unsigned short>;
  using v_tile = tile<BN, DV, unsigned short>;
  static constexpr int steps = (D + 15) / 16, columns = v_tile::padded_columns / 8;
};

template <class Spec>
QKV_DEVICE void mma(const typename Spec::arguments &a) {
  using M = mma_attention<Spec>;
  using T = typename M::T;
  constexpr int BM = M::BM, BN = M::BN, MT = M::MT, threads = M::threads;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned sq = shared_address(memory), sk = sq + M::q_tile::bytes,
                 sv = sk + 2 * M::k_tile::bytes;
  const int thread = static_cast<int>(thread_of_block()), warp = thread / 32, lane = thread % 32,
            g = lane / 4, t = lane % 4;
  const int rows = Spec::n_rows(a), keys = Spec::n_keys(a);
  const unsigned tiles = static_cast<unsigned>(largest((rows + BM - 1) / BM, 1));
  const auto at = Spec::at(a, block_of_grid() / tiles);
  const int i0 = static_cast<int>(tiles - 1 - block_of_grid() % tiles) *
                 BM;  // a causal mask's longest rows first
  const unsigned short *q = Spec::queries(a, at), *k = Spec::keys(a, at), *v = Spec::values(a, at);
  const int q_stride = Spec::queries_stride(a), k_stride = Spec::keys_stride(a),
            v_stride = Spec::values_stride(a);
  const bool aligned =
      is_aligned(q, q_stride) && is_aligned(k, k_stride) && is_aligned(v, v_stride);

  const range seen = keys_of_rows<Spec>(a, at, i0, least(i0 + BM, rows));
  const int from = seen.first / BN, to = (seen.end + BN - 1) / BN;
  const auto load_keys = [&](int n, int stage) QKV_INLINE {
    load_tile<typename M::k_tile, threads>(sk + stage * M::k_tile::bytes, k, k_stride, n * BN, keys,
                                           aligned, thread);
  };
  const auto load_values = [&](int n, int stage) QKV_INLINE {
    load_tile<typename M::v_tile, threads>(sv + stage * M::v_tile::bytes, v, v_stride, n * BN, keys,
                                           aligned, thread);
  };
  load_tile<typename M::q_tile, threads>(sq, q, q_stride, i0, rows, aligned, thread);
  if (from < to) load_keys(from, 0);
  commit_copies();
  if (from < to) load_values(from, 0);
  commit_copies();

  float o[MT][M::columns][4] = {}, most[MT][2], sum[MT][2] = {};
#pragma unroll
  for (int m = 0; m < MT; ++m) most[m][0] = most[m][1] = -infinity();
  const int row0 = warp * MT * 16;
  constexpr float factor = exponent_factor<Spec>;

  for (int n = from; n < to; ++n) {
    const int stage = (n - from) & 1, j0 = n * BN;
    wait_for_copies<1>();  // these keys (and the queries) are there
    wait_for_block();      // and everybody has done with the other stage
    if (n + 1 < to) load_keys(n + 1, stage ^ 1);
    commit_copies();

    // S = Q K'
    float s[MT][BN / 8][4] = {};
    const unsigned kt = sk + stage * M::k_tile::bytes;
#pragma unroll
    for (int kk = 0; kk < M::steps; ++kk) {
      unsigned qa[MT][4];
#pragma unroll
      for (int m = 0; m < MT; ++m)
        load_matrices<false>(qa[m],
                             sq + M::q_tile::at(row0 + m * 16 + lane % 16, 2 * kk + lane / 16));
#pragma unroll
      for (int x = 0; x < BN / 16; ++x) {
        unsigned b[4];
        load_matrices<false>(
            b, kt + M::k_tile::at(x * 16 + lane % 8 + lane / 16 * 8, 2 * kk + lane / 8 % 2));
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          multiply<T>(s[m][2 * x], qa[m], b[0], b[1]);
          multiply<T>(s[m][2 * x + 1], qa[m], b[2], b[3]);
        }
      }
    }

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
    const bool whole = is_whole<Spec>(a, at, i0 + row0, i0 + row0 + MT * 16, j0, j0 + BN);
    if (whole)
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
        const float base = now == -infinity() ? 0.f : now * factor;
        const float scale = power_of_two(fused(most[m][h], factor, -base));
        most[m][h] = now;
        float total = 0;
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; ++e)
            total += s[m][x][e] = power_of_two(fused(s[m][x][e], factor, -base));
        sum[m][h] = sum[m][h] * scale + total;
#pragma unroll
        for (int x = 0; x < M::columns; ++x) o[m][x][2 * h] *= scale, o[m][x][2 * h + 1] *= scale;
      }
    }

    // O += P V
    wait_for_copies<1>();  // these values are there
    wait_for_block();
    if (n + 1 < to) load_values(n + 1, stage ^ 1);
    commit_copies();
    const unsigned vt = sv + stage * M::v_tile::bytes;
#pragma unroll
    for (int kk = 0; kk < BN / 16; ++kk) {
      unsigned pa[MT][4];
#pragma unroll
      for (int m = 0; m < MT; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          pa[m][e] =
              rounded_pair<T>(s[m][2 * kk + e / 2][e % 2 * 2], s[m][2 * kk + e / 2][e % 2 * 2 + 1]);
#pragma unroll
      for (int x = 0; x < M::columns / 2; ++x) {
        unsigned b[4];
        load_matrices<true>(b, vt + M::v_tile::at(kk * 16 + lane % 16, 2 * x + lane / 16));
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          multiply<T>(o[m][2 * x], pa[m], b[0], b[1]);
          multiply<T>(o[m][2 * x + 1], pa[m], b[2], b[3]);
        }
      }
    }
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
        if (t == 0) store_lse<Spec>(a, at, i, most[m][h] * factor, total);
    }
  if constexpr (Spec::is_masked)
    if (any_of_warp(undefined))
      for (int r = 0; r < MT * 16 && i0 + row0 + r < rows; ++r)
        compute_row<Spec>(a, at, i0 + row0 + r, lane);
}
