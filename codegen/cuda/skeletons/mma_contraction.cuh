// SPDX-License-Identifier: BSL-1.0
#include "contraction.cuh"
#include "products.cuh"
// Contractions by mma.sync, from compute capability 8.0 on, for all types: a tile is divided among
// ROW_WARPS x COLUMN_WARPS warps, which copy and multiply.

template <class Spec>
struct mma_contraction_tiles : contraction_operands<Spec> {
  using T = typename Spec::element;
  using number = typename Spec::number;
  static constexpr int BM = Spec::BM, BN = Spec::BN, DEPTH = Spec::DEPTH,
                       threads = Spec::ROW_WARPS * Spec::COLUMN_WARPS * 32,
                       WM = BM / Spec::ROW_WARPS, WN = BN / Spec::COLUMN_WARPS, MT = WM / 16,
                       NT = WN / 8;
  static constexpr bool is_f32 = is_same<T, f32_number>;
  using operands = contraction_operands<Spec>;
  using typename operands::left_tile;
  using typename operands::right_tile;
  using sums = float[MT][NT][4];

  static_assert((WM & (WM - 1)) == 0 && (WN & (WN - 1)) == 0);  // as tile::further needs

  // The address that a lane reads in a warp's first 16 rows, and in its first 16 columns, at the
  // first step.
  static QKV_DEVICE unsigned left_of_lane(int row, int lane) {
    if constexpr (Spec::left_by_depth) return left_tile::at(row + lane % 16, lane / 16);
    if constexpr (is_f32) return left_tile::of_element(lane % 4, row + lane / 4);
    return left_tile::at(lane % 8 + lane / 16 * 8, row / 8 + lane / 8 % 2);
  }
  static QKV_DEVICE unsigned right_of_lane(int column, int lane) {
    if constexpr (Spec::right_by_depth)
      return right_tile::at(column + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    if constexpr (is_f32) return right_tile::of_element(lane % 4, column + lane / 4);
    return right_tile::at(lane % 16, column / 8 + lane / 16);
  }
  // Of 16 rows, one step of the depth: 16 numbers of 16 bits, or 8 of f32.
  static QKV_DEVICE void load_left(unsigned (&r)[4], unsigned of_lane, int m, int step) {
    if constexpr (Spec::left_by_depth)
      load_matrices<false>(r, left_tile::further(of_lane, m * 16, 2 * step));
    else if constexpr (!is_f32)
      load_matrices<true>(r, left_tile::further(of_lane, step * 16, 2 * m));
    else
#pragma unroll
      for (int e = 0; e < 4; ++e)
        r[e] = load_bits(left_tile::further(of_lane, step * 8 + e / 2 * 4, m * 4 + e % 2 * 2));
  }
  // The same of 16 columns; those of the first eight come first.
  static QKV_DEVICE void load_right(unsigned (&r)[4], unsigned of_lane, int x, int step) {
    if constexpr (Spec::right_by_depth)
      load_matrices<false>(r, right_tile::further(of_lane, x * 16, 2 * step));
    else if constexpr (!is_f32)
      load_matrices<true>(r, right_tile::further(of_lane, step * 16, 2 * x));
    else
#pragma unroll
      for (int e = 0; e < 4; ++e)
        r[e] = load_bits(right_tile::further(of_lane, step * 8 + e % 2 * 4, x * 4 + e / 2 * 2));
  }
  // s += the products of this step.
  static QKV_DEVICE void add_products(sums &s, unsigned left, unsigned right, int step) {
    if constexpr (is_f32) {
      two_parts<4> a[MT];
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        unsigned r[4];
        load_left(r, left, m, step);
#pragma unroll
        for (int e = 0; e < 4; ++e) a[m].set(e, float_of_bits(static_cast<int>(r[e])));
      }
#pragma unroll
      for (int x = 0; x < NT / 2; ++x) {
        unsigned r[4];
        load_right(r, right, x, step);
        two_parts<2> b[2];
#pragma unroll
        for (int e = 0; e < 4; ++e) b[e / 2].set(e % 2, float_of_bits(static_cast<int>(r[e])));
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          multiply(s[m][2 * x], a[m], b[0]);
          multiply(s[m][2 * x + 1], a[m], b[1]);
        }
      }
    } else {
      unsigned a[MT][4];
#pragma unroll
      for (int m = 0; m < MT; ++m) load_left(a[m], left, m, step);
#pragma unroll
      for (int x = 0; x < NT / 2; ++x) {
        unsigned b[4];
        load_right(b, right, x, step);
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          multiply<T>(s[m][2 * x], a[m], b[0], b[1]);
          multiply<T>(s[m][2 * x + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  // s += all products of a stage. Where results have more than 16 bits, sums begin anew after so
  // many steps and are added in f32, which rounds to nearest.
  static QKV_DEVICE void add_stage(sums &s, unsigned left, unsigned right) {
    constexpr int steps = DEPTH / (is_f32 ? 8 : 16), at_once = Spec::is_precise ? 2 : steps;
#pragma unroll
    for (int first = 0; first < steps; first += at_once) {
      if constexpr (Spec::is_precise) {
        sums part = {};
#pragma unroll
        for (int k = first; k < first + at_once; ++k) add_products(part, left, right, k);
#pragma unroll
        for (int m = 0; m < MT; ++m)
#pragma unroll
          for (int x = 0; x < NT; ++x)
#pragma unroll
            for (int e = 0; e < 4; ++e) s[m][x][e] += part[m][x][e];
      } else {
#pragma unroll
        for (int k = first; k < first + at_once; ++k) add_products(s, left, right, k);
      }
    }
  }
};

template <class Spec>
QKV_DEVICE void mma_contraction(const typename Spec::arguments &a) {
  using C = mma_contraction_tiles<Spec>;
  constexpr int stages = Spec::STAGES;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned first = shared_address(memory);
  const int thread = static_cast<int>(thread_of_block()), warp = thread / 32, lane = thread % 32;
  const contraction_block<Spec> block(a);
  if (!block.exists) return;

  stage_copies<Spec, C::threads> copies(a, block, thread);
  int loaded = 0, place = 0;
  const auto load = [&]() QKV_INLINE {
    if (loaded++ < copies.n) {
      copies.load(first + place);
      place = place == (stages - 1) * C::stage_bytes ? 0 : place + C::stage_bytes;
    }
    commit_copies();
  };
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) load();

  typename C::sums sums = {};
  const int row = warp / Spec::COLUMN_WARPS * C::WM, column = warp % Spec::COLUMN_WARPS * C::WN;
  const unsigned left = C::left_of_lane(row, lane),
                 right = C::left_tile::bytes + C::right_of_lane(column, lane);
  unsigned now = first;
#pragma unroll 1
  for (int step = 0; step < copies.n; ++step) {
    wait_for_copies<stages - 2>();  // this stage is there
    wait_for_block();               // and all warps have finished reading the one before
    load();
    C::add_stage(sums, now + left, now + right);
    now = now == first + (stages - 1) * C::stage_bytes ? first : now + C::stage_bytes;
  }
  wait_for_copies<0>();

  const result_cells<Spec> result(a, block);
  bool undefined = false;
  const auto store = [&](auto whole) QKV_INLINE {
#pragma unroll
    for (int m = 0; m < C::MT; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = block.i0 + row + m * 16 + lane / 4 + h * 8;
        if (i >= block.rows.n) continue;
#pragma unroll
        for (int x = 0; x < C::NT; ++x) {
          const float low = sums[m][x][2 * h], high = sums[m][x][2 * h + 1];
          if constexpr (C::is_f32)
            undefined =
                undefined || !(magnitude(low) < infinity()) || !(magnitude(high) < infinity());
          result.template store<whole.value>(i, block.j0 + column + x * 8 + lane % 4 * 2, low,
                                             high);
        }
      }
  };
  if (result.whole)
    store(constant<true>{});
  else
    store(constant<false>{});
  if constexpr (C::is_f32)
    if (undefined)  // all that this thread has
#pragma unroll 1
      for (int e = 0; e < C::MT * C::NT * 4; ++e)
        result.store_plain(block.i0 + row + e / (4 * C::NT) * 16 + lane / 4 + e / 2 % 2 * 8,
                           block.j0 + column + e / 4 % C::NT * 8 + lane % 4 * 2 + e % 2);
}
