// SPDX-License-Identifier: BSL-1.0
#include "common.cuh"
// Parts that all skeletons of attention share: scores and masks of a pair, the rows and keys of a
// block, results, rows that are computed again without tensor cores.

// ---- formulas of a kernel -----------------------------------------------------------------------
constexpr float log2_of_e = 1.4426950408889634f, log_of_2 = 0.6931471805599453f;

// The score of a pair less its factor, which is left to `exp2`.
template <class Spec>
QKV_DEVICE float score_of(const typename Spec::arguments &a, const typename Spec::place &at, int i,
                          int j, float dot) {
  if constexpr (Spec::scale != 0) {
    return dot;
  } else {
    if constexpr (Spec::reads) i = least(i, Spec::n_rows(a) - 1), j = least(j, Spec::n_keys(a) - 1);
    return Spec::score(a, at, i, j, dot);
  }
}
template <class Spec>
constexpr float exponent_factor = (Spec::scale != 0 ? Spec::scale : 1.f) * log2_of_e;

// True if the pair exists and is not masked.
template <class Spec>
QKV_DEVICE bool is_visible(const typename Spec::arguments &a, const typename Spec::place &at, int i,
                           int j) {
  bool visible = j < Spec::n_keys(a);
  if constexpr (Spec::is_masked) {
    if constexpr (Spec::reads) i = least(i, Spec::n_rows(a) - 1), j = least(j, Spec::n_keys(a) - 1);
    visible = visible & Spec::keep(a, at, i, j);
  }
  return visible;
}
// True if no pair of the rows and the keys is hidden.
template <class Spec>
QKV_DEVICE bool is_whole(const typename Spec::arguments &a, const typename Spec::place &at, int i0,
                         int i1, int j0, int j1) {
  if (j1 > Spec::n_keys(a)) return false;
  if constexpr (Spec::is_masked) return Spec::all_kept(a, at, i0, i1, j0, j1);
  return true;
}

// Where a row has seen nothing yet, its weights are 0 then, not NaN.
QKV_DEVICE float finite(float most) { return most == -infinity() ? 0.f : most; }

struct range {
  int first, end;
};
// The keys that rows from i0 on see, of those that exist.
template <class Spec>
QKV_DEVICE range keys_of_rows(const typename Spec::arguments &a, const typename Spec::place &at,
                              int i0, int i1) {
  range r{0, Spec::n_keys(a)};
  if constexpr (Spec::is_masked) {
    r.first = largest(Spec::first_key(a, at, i0, i1), 0);
    r.end = least(Spec::end_of_keys(a, at, i0, i1), r.end);
  }
  return r;
}

// The number that is stored of a sum.
template <class Spec>
QKV_DEVICE typename Spec::result_number finished(const typename Spec::arguments &a,
                                                 const typename Spec::place &at, int i, int column,
                                                 float sum) {
  if constexpr (Spec::finishes)
    return Spec::finish(a, at, i, least(column, Spec::DV - 1), sum);
  else
    return rounded<typename Spec::result_element>(sum);
}

// Where a block writes, two columns at a time.
template <class Spec>
struct result_rows {
  using number = typename Spec::result_number;
  const typename Spec::arguments &a;
  const typename Spec::place &at;
  number *first;
  int stride;
  bool pairs;

  QKV_DEVICE result_rows(const typename Spec::arguments &arguments,
                         const typename Spec::place &place)
      : a(arguments),
        at(place),
        first(Spec::result(a, at)),
        stride(Spec::result_stride(a)),
        pairs(is_aligned(first, stride, 2 * sizeof(number))) {}

  QKV_DEVICE void store(int row, int column, float low, float high) const {
    if (column >= Spec::DV) return;
    number *cell = first + static_cast<long long>(row) * stride + column;
    const number x = finished<Spec>(a, at, row, column, low),
                 y = finished<Spec>(a, at, row, column + 1, high);
    if (pairs && (Spec::DV % 2 == 0 || column + 1 < Spec::DV)) {
      store_pair(cell, x, y);
    } else {
      cell[0] = x;
      if (column + 1 < Spec::DV) cell[1] = y;
    }
  }
};

template <class Spec>
QKV_DEVICE void store_lse(const typename Spec::arguments &a, const typename Spec::place &at,
                          int row, float base, float total) {
  Spec::lse(a, at)[static_cast<long long>(row) * Spec::lse_stride(a)] =
      total == 0            ? -infinity()
      : is_undefined(total) ? total
                            : base * log_of_2 + logarithm(total);
}

// ---- rows ---------------------------------------------------------------------------------------
// A tile has query rows of one position along the outer axes or, where it folds, those of all
// positions of an axis that only queries have: head after head.
template <class Spec>
QKV_DEVICE int rows_of_place(const typename Spec::arguments &a) {
  return Spec::FOLDS ? Spec::n_rows(a) * Spec::folded(a) : Spec::n_rows(a);
}
template <class Spec>
struct query_row {
  typename Spec::place at;
  int i;

  QKV_DEVICE query_row(const typename Spec::arguments &a, const typename Spec::place &of_tile,
                       int row)
      : at(of_tile), i(row) {
    if constexpr (Spec::FOLDS) {  // rows beyond the last one are that one
      const int n = Spec::n_rows(a), known = largest(least(row, n * Spec::folded(a) - 1), 0);
      at = Spec::of_fold(at, n > 0 ? known / n : 0);
      i = n > 0 ? known % n : 0;
    }
  }
};
// The positions along the query axis of some rows of a tile.
template <class Spec>
QKV_DEVICE range positions_of_rows(const typename Spec::arguments &a, int first, int end) {
  if constexpr (Spec::FOLDS) return {0, Spec::n_rows(a)};
  return {first, end};
}

// The rows of a block and the tiles of keys that it visits. Where a mask makes some rows longer
// than others, as a causal one does, the longest rows of four positions come first: short blocks
// run last and fill idle multiprocessors, and the keys of four positions stay in cache. Where keys
// are split among blocks, those of the same rows are neighbours.
template <class Spec>
struct block {
  typename Spec::place at;
  int i0, from, to;
  int position, split = 0;

  QKV_DEVICE explicit block(const typename Spec::arguments &a) {
    constexpr int BM = Spec::BM, BN = Spec::BN;
    const int rows = rows_of_place<Spec>(a);
    unsigned number = block_of_grid();
    if constexpr (Spec::SPLITS) {
      const unsigned n = static_cast<unsigned>(Spec::n_splits(a));
      split = static_cast<int>(number % n);
      number /= n;
    }
    constexpr int together = Spec::is_masked ? 4 : 1;
    const int tiles = largest((rows + BM - 1) / BM, 1), own_tile = static_cast<int>(number),
              first = own_tile / (together * tiles) * together,
              height = least(positions_of_grid(a, tiles) - first, together),
              inside = own_tile - first * tiles;
    position = first + inside % height;
    at = Spec::at(a, static_cast<unsigned>(position), Spec::FOLDS);
    i0 = (first_is_longest() ? inside / height : tiles - 1 - inside / height) * BM;
    const range own = positions_of_rows<Spec>(a, i0, least(i0 + BM, rows));
    const range seen = keys_of_rows<Spec>(a, at, own.first, own.end);
    from = seen.first / BN;
    to = (seen.end + BN - 1) / BN;
    if constexpr (Spec::SPLITS) {
      const int n = Spec::n_splits(a), share = (largest(to - from, 0) + n - 1) / n;
      from += split * share;
      to = least(to, from + share);
    }
  }

 private:
  static QKV_DEVICE constexpr bool first_is_longest() {
    if constexpr (Spec::is_masked) return Spec::first_rows_are_longest;
    return false;
  }
  static QKV_DEVICE int positions_of_grid(const typename Spec::arguments &a, int tiles) {
    unsigned blocks = blocks_of_grid();
    if constexpr (Spec::SPLITS) blocks /= static_cast<unsigned>(Spec::n_splits(a));
    return static_cast<int>(blocks) / tiles;
  }
};

// The operands of a block.
template <class Spec>
struct operands {
  const typename Spec::number *q, *k, *v;
  int q_stride, k_stride, v_stride;
  bool q_aligned, k_aligned, v_aligned;

  QKV_DEVICE operands(const typename Spec::arguments &a, const typename Spec::place &at)
      : q(Spec::queries(a, at)),
        k(Spec::keys(a, at)),
        v(Spec::values(a, at)),
        q_stride(Spec::queries_stride(a)),
        k_stride(Spec::keys_stride(a)),
        v_stride(Spec::values_stride(a)),
        q_aligned(is_aligned(q, q_stride)),
        k_aligned(is_aligned(k, k_stride)),
        v_aligned(is_aligned(v, v_stride)) {}
};

// ---- rows one at a time -------------------------------------------------------------------------
// Writes a row of unnormalised sums, of which a lane has every 32nd column, and its logsumexp. True
// if one of the lane's results is NaN.
template <class Spec, int N>
QKV_DEVICE bool store_row(const typename Spec::arguments &a, const typename Spec::place &at, int i,
                          const float (&o)[N], float base, float total, int lane) {
  const float inverse = total == 0 ? 0.f : 1 / total;
  auto *result = Spec::result(a, at) + static_cast<long long>(i) * Spec::result_stride(a);
  bool undefined = false;
#pragma unroll
  for (int c = 0; c < N; ++c)
    if (c * 32 + lane < Spec::DV) {
      const float x = o[c] * inverse;
      undefined = undefined | is_undefined(x);
      result[c * 32 + lane] = finished<Spec>(a, at, i, c * 32 + lane, x);
    }
  if constexpr (Spec::has_lse)
    if (lane == 0) store_lse<Spec>(a, at, i, base, total);
  return undefined;
}

// A weight of 0 times an infinite or NaN value is NaN, although a mask hides it. Rows that have
// become NaN are computed again without tensor cores, one warp a row, and only from what they see.
template <class Spec>
QKV_DEVICE void compute_row(const typename Spec::arguments &a, const typename Spec::place &at,
                            int i, int lane) {
  using T = typename Spec::element;
  constexpr int columns = (Spec::DV + 31) / 32;
  constexpr float factor = exponent_factor<Spec>;
  const auto *q = Spec::queries(a, at) + static_cast<long long>(i) * Spec::queries_stride(a);
  const range seen = keys_of_rows<Spec>(a, at, i, i + 1);
  float o[columns] = {}, most = -infinity(), sum = 0, base = 0;
  for (int j0 = seen.first / 32 * 32; j0 < seen.end; j0 += 32) {
    const int j = j0 + lane;
    const bool visible = is_visible<Spec>(a, at, i, j);
    float s = -infinity();
    if (visible) {
      const auto *k = Spec::keys(a, at) + static_cast<long long>(j) * Spec::keys_stride(a);
      float dot = 0;
      for (int d = 0; d < Spec::D; ++d) dot = fused(number_of<T>(q[d]), number_of<T>(k[d]), dot);
      s = score_of<Spec>(a, at, i, j, dot);
    }
    const float now = larger(most, largest_of_warp(s));
    base = finite(now) * factor;
    const float scale = now == most ? 1.f : power_of_two(fused(most, factor, -base)),
                weight = power_of_two(fused(s, factor, -base));
    most = now;
    sum = sum * scale + weight;
    for (int c = 0; c < columns; ++c) o[c] *= scale;
    for (int key = 0; key < 32; ++key) {
      const float w = of_lane(weight, key);
      if (of_lane(visible ? 1.f : 0.f, key) == 0) continue;
      const auto *v =
          Spec::values(a, at) + static_cast<long long>(j0 + key) * Spec::values_stride(a);
#pragma unroll
      for (int c = 0; c < columns; ++c)
        if (c * 32 + lane < Spec::DV) o[c] += w * number_of<T>(v[c * 32 + lane]);
    }
  }
  (void)store_row<Spec>(a, at, i, o, most * factor, sum_of_warp(sum), lane);
}

// All of these rows, where one has become NaN.
template <class Spec>
QKV_DEVICE void compute_again(bool undefined, const typename Spec::arguments &a,
                              const typename Spec::place &at, int first, int n, int lane) {
  if (any_of_warp(undefined))
    for (int r = 0; r < n && first + r < rows_of_place<Spec>(a); ++r) {
      const query_row<Spec> own(a, at, first + r);
      compute_row<Spec>(a, own.at, own.i, lane);
    }
}
