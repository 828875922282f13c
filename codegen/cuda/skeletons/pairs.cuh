// SPDX-License-Identifier: BSL-1.0
#include "attention.cuh"
// Parts that all skeletons of sums over pairs share: their products and sums as attentions of one
// product or one sum, the pairs of each sum, rows that are computed again.

template <int N>
struct place_in_list {
  static constexpr int value = N;
};
// Calls f with 0 to N - 1 as constants.
template <int N, class F>
QKV_DEVICE void for_each(const F &f) {
  if constexpr (N > 0) {
    for_each<N - 1>(f);
    f(place_in_list<N - 1>{});
  }
}

// One of the products, or of the sums, for the skeletons of products.
template <class Spec, int Features, int Columns, int Parts>
struct part_of : Spec {
  static constexpr int D = Features, DV = Columns;
  static constexpr float scale = 1;
  static constexpr int weight_parts = Parts;
};
template <class Spec, int P>
using product_of = part_of<Spec, Spec::template features<P>, Spec::template features<P>, 1>;

template <bool IsFirst, class First, class Second>
struct choice {
  using type = First;
};
template <class First, class Second>
struct choice<false, First, Second> {
  using type = Second;
};
template <class Spec, int S>
struct sum_of : part_of<Spec, Spec::template columns<S>, Spec::template columns<S>,
                        Spec::template pair_parts<S>> {
  static constexpr bool finishes = Spec::template finishes<S>;
  using arguments = typename Spec::arguments;
  using place = typename Spec::place;
  static constexpr bool is_f32 = Spec::template pair_parts<S> > 1;
  using result_element = typename choice<is_f32, f32_number, typename Spec::element>::type;
  using result_number = typename choice<is_f32, float, typename Spec::number>::type;
  static QKV_DEVICE auto result(const arguments &a, const place &at) {
    return Spec::template result<S>(a, at);
  }
  static QKV_DEVICE int result_stride(const arguments &a) {
    return Spec::template result_stride<S>(a);
  }
  static QKV_DEVICE auto finish(const arguments &a, const place &at, int i, int c, float sum) {
    return Spec::template finish<S>(a, at, i, c, sum);
  }
};

// Bytes of the tiles before one of them.
template <class Tiles, int P>
struct rows_before {
  static constexpr int value =
      rows_before<Tiles, P - 1>::value + Tiles::row_parts * Tiles::template rows<P - 1>::bytes;
};
template <class Tiles>
struct rows_before<Tiles, 0> {
  static constexpr int value = 0;
};
template <class Tiles, int K>
struct keys_before {
  static constexpr int value =
      keys_before<Tiles, K - 1>::value + Tiles::key_copies * Tiles::template keys<K - 1>::bytes;
};
template <class Tiles>
struct keys_before<Tiles, 0> {
  static constexpr int value = 0;
};

template <class Spec>
QKV_DEVICE void keep_inside(const typename Spec::arguments &a, int &i, int &j) {
  if constexpr (Spec::reads)
    i = largest(least(i, Spec::n_rows(a) - 1), 0), j = largest(least(j, Spec::n_keys(a) - 1), 0);
}

// Numbers of each key, which are computed once for a tile: rows of BN in shared memory.
template <class Spec>
struct values_of_keys {
  static constexpr int N = Spec::KEY_VALUES, bytes = N * Spec::BN * 4;

  // By all threads of a warpgroup or of a block.
  static QKV_DEVICE void store(unsigned to, const typename Spec::arguments &a,
                               const typename Spec::place &at, int j0, int thread, int threads) {
    if constexpr (N > 0)
      for (int k = thread; k < Spec::BN; k += threads) {
        const int j = largest(least(j0 + k, Spec::n_keys(a) - 1), 0);
        for_each<N>([&](auto v) QKV_INLINE {
          constexpr int V = decltype(v)::value;
          store_number(to + (V * Spec::BN + k) * 4, Spec::template key_value<V>(a, at, j));
        });
      }
  }

  // Of two neighbours.
  float of[2][N > 0 ? N : 1];
  QKV_DEVICE values_of_keys(unsigned from, int key) {
#pragma unroll
    for (int v = 0; v < N; ++v) load_two(of[0][v], of[1][v], from + (v * Spec::BN + key) * 4);
  }
};

// Calls set(S, pair of that sum) for each sum, with these products.
template <class Spec, bool Masked, class F>
QKV_DEVICE void for_each_sum(const typename Spec::arguments &a, const typename Spec::place &at,
                             int i, int j, float dot0, float dot1, const float *keys,
                             const F &set) {
  const bool visible = !Masked || is_visible<Spec>(a, at, i, j);
  keep_inside<Spec>(a, i, j);
  for_each<Spec::SUMS>([&](auto s) QKV_INLINE {
    const float w = Spec::template pair<decltype(s)::value>(a, at, i, j, dot0, dot1, keys);
    set(s, visible ? w : 0.f);
  });
}

// A weight of 0 times an infinite or NaN value is NaN, although a mask hides it: such rows are
// computed again, one warp a row, only from what they see.
template <class Spec, int S>
QKV_DEVICE void compute_sum_of_row(const typename Spec::arguments &a,
                                   const typename Spec::place &at, int i, int lane) {
  using T = typename Spec::element;
  using own = sum_of<Spec, S>;
  constexpr int columns = (own::DV + 31) / 32, V = Spec::template values_of_sum<S>;
  const range seen = keys_of_rows<Spec>(a, at, i, i + 1);
  float o[columns] = {};
  for (int j0 = seen.first / 32 * 32; j0 < seen.end; j0 += 32) {
    const int j = j0 + lane;
    const bool visible = is_visible<Spec>(a, at, i, j);
    float weight = 0;
    if (visible) {
      float dots[2] = {};
      for_each<Spec::PRODUCTS>([&](auto p) QKV_INLINE {
        constexpr int P = decltype(p)::value, K = Spec::template keys_of_product<P>,
                      D = Spec::template features<P>;
        const auto *x = Spec::template rows<P>(a, at) +
                        static_cast<long long>(i) * Spec::template rows_stride<P>(a);
        const auto *y = Spec::template keys<K>(a, at) +
                        static_cast<long long>(j) * Spec::template keys_stride<K>(a);
        for (int d = 0; d < D; ++d)
          dots[P] = fused(number_of<T>(x[d]), number_of<T>(y[d]), dots[P]);
      });
      float keys[Spec::KEY_VALUES > 0 ? Spec::KEY_VALUES : 1];
      for_each<Spec::KEY_VALUES>([&](auto v) QKV_INLINE {
        constexpr int V = decltype(v)::value;
        keys[V] = Spec::template key_value<V>(a, at, j);
      });
      weight = Spec::template pair<S>(a, at, i, j, dots[0], dots[1], keys);
    }
    for (int key = 0; key < 32; ++key) {
      const float w = of_lane(weight, key);
      if (of_lane(visible ? 1.f : 0.f, key) == 0) continue;
      const auto *v = Spec::template keys<V>(a, at) +
                      static_cast<long long>(j0 + key) * Spec::template keys_stride<V>(a);
#pragma unroll
      for (int c = 0; c < columns; ++c)
        if (c * 32 + lane < own::DV) o[c] += w * number_of<T>(v[c * 32 + lane]);
    }
  }
  auto *result = own::result(a, at) + static_cast<long long>(i) * own::result_stride(a);
#pragma unroll
  for (int c = 0; c < columns; ++c)
    if (c * 32 + lane < own::DV)
      result[c * 32 + lane] = finished<own>(a, at, i, c * 32 + lane, o[c]);
}
