// Attention of f32 by tensor cores of TF32, from compute capability 8.0 on; the scheme of mma.cuh.
// A number is the sum of two of TF32, and a product three of theirs: 22 bits. Tensor cores round sums
// towards zero, so that sums begin anew every 16 terms and are added in f32.

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
struct tf32_attention {
  static constexpr int D = Spec::D, DV = Spec::DV, BM = Spec::BM, BN = Spec::BN,
                       threads = Spec::WARPS * 32, MT = BM / (16 * Spec::WARPS);
  using q_tile = tile<BM, D, float>;
  using k_tile = tile<BN, D, float>;
  using v_tile = tile<BN, DV, float>;
  static constexpr int steps = (D + 7) / 8, steps_at_once = 2, columns = (DV + 7) / 8;
};

template <class Spec>
QKV_DEVICE void tf32(const typename Spec::arguments &a) {
  using M = tf32_attention<Spec>;
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
  const float *q = Spec::queries(a, at), *k = Spec::keys(a, at), *v = Spec::values(a, at);
  const int q_stride = Spec::queries_stride(a), k_stride = Spec::keys_stride(a),
            v_stride = Spec::values_stride(a);
  const bool aligned = is_aligned(q, q_stride) && is_aligned(k, k_stride) && is_aligned(v, v_stride);

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
    for (int first = 0; first < M::steps; first += M::steps_at_once) {
      float part[MT][BN / 8][4] = {};
#pragma unroll
      for (int kk = first; kk < first + M::steps_at_once; ++kk) {
        if (kk >= M::steps) break;
        two_parts<4> qa[MT];
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          unsigned r[4];
          load_matrices<false>(
              r, sq + M::q_tile::at(row0 + m * 16 + lane % 16, 2 * kk + lane / 16));
#pragma unroll
          for (int e = 0; e < 4; ++e) qa[m].set(e, float_of_bits(static_cast<int>(r[e])));
        }
#pragma unroll
        for (int x = 0; x < BN / 16; ++x) {
          unsigned r[4];
          load_matrices<false>(r, kt + M::k_tile::at(x * 16 + lane % 8 + lane / 16 * 8,
                                                     2 * kk + lane / 8 % 2));
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
        const float scale = power_of_two((most[m][h] - base) * factor);
        most[m][h] = now;
        float total = 0;
#pragma unroll
        for (int x = 0; x < BN / 8; ++x)
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; ++e)
            total += s[m][x][e] = power_of_two((s[m][x][e] - base) * factor);
        sum[m][h] = sum[m][h] * scale + total;
#pragma unroll
        for (int x = 0; x < M::columns; ++x) o[m][x][2 * h] *= scale, o[m][x][2 * h + 1] *= scale;
      }
    }

    // O += P V. Of eight keys, tensor cores take the even ones first: a thread has those weights.
    wait_for_copies<1>();  // these values are there
    wait_for_block();
    if (n + 1 < to) load_values(n + 1, stage ^ 1);
    commit_copies();
    const unsigned vt = sv + stage * M::v_tile::bytes;
    two_parts<4> weights[MT][BN / 8];
#pragma unroll
    for (int m = 0; m < MT; ++m)
#pragma unroll
      for (int y = 0; y < BN / 8; ++y)
#pragma unroll
        for (int e = 0; e < 4; ++e) weights[m][y].set(e, s[m][y][e % 2 * 2 + e / 2]);
#pragma unroll
    for (int x = 0; x < M::columns; ++x) {
#pragma unroll
      for (int first = 0; first < BN / 8; first += M::steps_at_once) {
        float part[MT][4] = {};
#pragma unroll
        for (int y = first; y < first + M::steps_at_once; ++y) {
          two_parts<2> b;
#pragma unroll
          for (int e = 0; e < 2; ++e)
            b.set(e, load_number(vt + M::v_tile::of_element(y * 8 + 2 * t + e, x * 8 + g)));
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
  // The second part of an infinity is NaN.
  if (any_of_warp(undefined))
    for (int r = 0; r < MT * 16 && i0 + row0 + r < rows; ++r)
      compute_row<Spec>(a, at, i0 + row0 + r, lane);
}
