// SPDX-License-Identifier: BSL-1.0
#include "products.cuh"
// Sums over what two tensors share, by tensor cores, from compute capability 8.0 on.
//   a block: BM rows x BN columns of the result, divided among ROW_WARPS x COLUMN_WARPS warps
//   the depth, which is summed up, comes by cp.async into STAGES places of DEPTH each
// `spec` gives sizes, addresses, and what becomes of each sum. The depth consists of chunks, along
// each of which the positions are those of one axis. An operand lies by depth, or by its rows or
// columns: those are neighbours in memory.

template <class Spec>
struct contraction_tiles {
  using T = typename Spec::element;
  using number = typename Spec::number;
  static constexpr int BM = Spec::BM, BN = Spec::BN, DEPTH = Spec::DEPTH,
                       threads = Spec::ROW_WARPS * Spec::COLUMN_WARPS * 32,
                       WM = BM / Spec::ROW_WARPS, WN = BN / Spec::COLUMN_WARPS, MT = WM / 16,
                       NT = WN / 8;
  static constexpr bool is_f32 = is_same<T, f32_number>;
  template <int N, bool ByDepth>
  struct layout {
    using type = tile<N, DEPTH, number>;
  };
  template <int N>
  struct layout<N, false> {
    using type = tile<DEPTH, N, number>;
  };
  using left_tile = typename layout<BM, Spec::left_by_depth>::type;
  using right_tile = typename layout<BN, Spec::right_by_depth>::type;
  static constexpr int stage_bytes = left_tile::bytes + right_tile::bytes;
  using sums = float[MT][NT][4];

  // Of 16 rows from `row` on, one step of the depth: 16 numbers of 16 bits, or 8 of f32.
  static QKV_DEVICE void load_left(unsigned (&r)[4], unsigned at, int row, int step, int lane) {
    if constexpr (Spec::left_by_depth)
      load_matrices<false>(r, at + left_tile::at(row + lane % 16, 2 * step + lane / 16));
    else if constexpr (!is_f32)
      load_matrices<true>(
          r, at + left_tile::at(step * 16 + lane % 8 + lane / 16 * 8, row / 8 + lane / 8 % 2));
    else
#pragma unroll
      for (int e = 0; e < 4; ++e)
        r[e] = load_bits(at + left_tile::of_element(step * 8 + lane % 4 + e / 2 * 4,
                                                    row + lane / 4 + e % 2 * 8));
  }
  // The same of 16 columns; those of the first eight come first.
  static QKV_DEVICE void load_right(unsigned (&r)[4], unsigned at, int column, int step, int lane) {
    if constexpr (Spec::right_by_depth)
      load_matrices<false>(
          r, at + right_tile::at(column + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
    else if constexpr (!is_f32)
      load_matrices<true>(r, at + right_tile::at(step * 16 + lane % 16, column / 8 + lane / 16));
    else
#pragma unroll
      for (int e = 0; e < 4; ++e)
        r[e] = load_bits(at + right_tile::of_element(step * 8 + lane % 4 + e % 2 * 4,
                                                     column + lane / 4 + e / 2 * 8));
  }
  // s += the products of this step.
  static QKV_DEVICE void add_products(sums &s, unsigned left, unsigned right, int row, int column,
                                      int step, int lane) {
    if constexpr (is_f32) {
      two_parts<4> a[MT];
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        unsigned r[4];
        load_left(r, left, row + m * 16, step, lane);
#pragma unroll
        for (int e = 0; e < 4; ++e) a[m].set(e, float_of_bits(static_cast<int>(r[e])));
      }
#pragma unroll
      for (int x = 0; x < NT / 2; ++x) {
        unsigned r[4];
        load_right(r, right, column + x * 16, step, lane);
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
      for (int m = 0; m < MT; ++m) load_left(a[m], left, row + m * 16, step, lane);
#pragma unroll
      for (int x = 0; x < NT / 2; ++x) {
        unsigned b[4];
        load_right(b, right, column + x * 16, step, lane);
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
  static QKV_DEVICE void add_stage(sums &s, unsigned left, unsigned right, int row, int column,
                                   int lane) {
    constexpr int steps = DEPTH / (is_f32 ? 8 : 16), at_once = Spec::is_precise ? 2 : steps;
#pragma unroll
    for (int first = 0; first < steps; first += at_once) {
      if constexpr (Spec::is_precise) {
        sums part = {};
#pragma unroll
        for (int k = first; k < first + at_once; ++k)
          add_products(part, left, right, row, column, k, lane);
#pragma unroll
        for (int m = 0; m < MT; ++m)
#pragma unroll
          for (int x = 0; x < NT; ++x)
#pragma unroll
            for (int e = 0; e < 4; ++e) s[m][x][e] += part[m][x][e];
      } else {
#pragma unroll
        for (int k = first; k < first + at_once; ++k)
          add_products(s, left, right, row, column, k, lane);
      }
    }
  }
};

// The rows of a block: those of one position along the outer axes or, where they lie in equal
// distances, those of all positions of an axis that the right operand lacks.
template <class Spec>
struct row_block {
  int n, of_place;  // all rows, and those of one position
  bool folds;
  QKV_DEVICE explicit row_block(const typename Spec::arguments &a)
      : n(Spec::n_rows(a)), of_place(n), folds(false) {
    if constexpr (Spec::may_fold) {
      folds = Spec::left_fold_stride(a) == n * static_cast<long long>(Spec::left_stride(a)) &&
              Spec::result_fold_stride(a) == n * static_cast<long long>(Spec::result_stride(a));
      if (folds) n *= Spec::folded(a);
    }
  }
  // The position of a row, and its position along the row axis.
  QKV_DEVICE typename Spec::place place_of(typename Spec::place at, int row) const {
    return folds ? Spec::of_fold(at, row / of_place) : at;
  }
  QKV_DEVICE int index_of(int row) const { return folds ? row % of_place : row; }
};

// One sum by plain arithmetic.
template <class Spec>
QKV_DEVICE float plain_sum(const typename Spec::arguments &a, const typename Spec::place &at, int i,
                           int j) {
  constexpr bool l = Spec::left_by_depth, r = Spec::right_by_depth;
  const long long left = Spec::left_stride(a), right = Spec::right_stride(a);
  float sum = 0;
  for (int chunk = 0; chunk < Spec::n_chunks(a); ++chunk) {
    const auto *x = Spec::left(a, at, chunk) + (l ? i * left : i);
    const auto *y = Spec::right(a, at, chunk) + (r ? j * right : j);
    for (int k = 0; k < Spec::depth(a); ++k)
      sum = fused(x[l ? k : k * left], y[r ? k : k * right], sum);
  }
  return sum;
}

// The copies of an operand: rows of a tile, `across` of which exist, along the depth.
template <class Spec, class Tile, bool ByDepth>
struct operand_copies {
  using number = typename Tile::number;
  static constexpr int threads = contraction_tiles<Spec>::threads, DEPTH = Spec::DEPTH,
                       pieces = Tile::pieces, each = Tile::rows * pieces / threads,
                       step = threads / pieces;
  static_assert(threads % pieces == 0 && Tile::rows % step == 0);
  int row, piece, across;
  long long stride;
  bool whole = false;             // nothing is missing across the depth, and pieces are aligned
  const number *first = nullptr;  // of the tile, at the next depth

  QKV_DEVICE operand_copies(int thread, int n, int s)
      : row(thread / pieces), piece(thread % pieces), across(n), stride(s) {}

  QKV_DEVICE void begin_chunk(const number *at) {
    first = at;
    whole = across >= (ByDepth ? Tile::rows : Tile::padded_columns) && is_aligned(at, stride);
  }

  // The next DEPTH positions; zeros where there are no more.
  QKV_DEVICE void load(unsigned to, int k0, int depth) {
    const int left = depth - k0;
    const long long further = step * stride;
    if (whole && left >= DEPTH) {
      const number *source = first + row * stride + piece * Tile::in_piece;
#pragma unroll
      for (int k = 0; k < each; ++k, source += further)
        copy_16(to + Tile::at(row + k * step, piece), source);
    } else {
      load_part(to, ByDepth ? across : left, ByDepth ? left : across);
    }
    first += ByDepth ? DEPTH : DEPTH * stride;
  }

 private:
  // So many rows and columns of the tile.
  QKV_DEVICE void load_part(unsigned to, int rows, int columns) const {
    columns = least(columns, Tile::columns);
    const bool aligned = is_aligned(first, static_cast<int>(stride));
#pragma unroll 1
    for (int k = 0; k < each; ++k) {
      const int r = row + k * step, c = piece * Tile::in_piece,
                n = r < rows ? least(largest(columns - c, 0), Tile::in_piece) : 0;
      const number *source = first + r * stride + c;
      if (aligned) {
        copy_bytes(to + Tile::at(r, piece), source, n * static_cast<int>(sizeof(number)));
      } else {
#pragma unroll
        for (int e = 0; e < Tile::in_piece; ++e)
          store_number(to + Tile::of_element(r, c + e), e < n ? source[e] : number(0));
      }
    }
  }
};

// Where a block writes, two columns at a time.
template <class Spec>
struct result_cells {
  using number = typename Spec::result_number;
  const typename Spec::arguments &a;
  const typename Spec::place &at;
  const row_block<Spec> &block;
  int columns, row_stride, column_stride;
  number *first;
  bool pairs;

  QKV_DEVICE result_cells(const typename Spec::arguments &arguments, const typename Spec::place &of,
                          const row_block<Spec> &rows)
      : a(arguments),
        at(of),
        block(rows),
        columns(Spec::n_columns(a)),
        row_stride(Spec::result_stride(a)),
        column_stride(Spec::result_column_stride(a)),
        first(Spec::result(a, at)),
        pairs(column_stride == 1 && is_aligned(first, row_stride, 2 * sizeof(number))) {}

  QKV_DEVICE number finished(int row, int column, float sum) const {
    return Spec::finish(a, block.place_of(at, row), block.index_of(row), column, sum);
  }
  QKV_DEVICE number *cell(int row, int column) const {
    return first + static_cast<long long>(row) * row_stride +
           static_cast<long long>(column) * column_stride;
  }
  QKV_DEVICE void store(int row, int column, float low, float high) const {
    if (column >= columns) return;
    const bool both = column + 1 < columns;
    const number x = finished(row, column, low),
                 y = both ? finished(row, column + 1, high) : number(0);
    if (pairs && both) {
      store_pair(cell(row, column), x, y);
    } else {
      *cell(row, column) = x;
      if (both) *cell(row, column + 1) = y;
    }
  }
  // The second part of an infinity in TF32 is NaN, and a large number may become infinite.
  QKV_DEVICE void store_plain(int row, int column) const {
    if (row >= block.n || column >= columns) return;
    const float sum = plain_sum<Spec>(a, block.place_of(at, row), block.index_of(row), column);
    *cell(row, column) = finished(row, column, sum);
  }
};

template <class Spec>
QKV_DEVICE void contraction(const typename Spec::arguments &a) {
  using C = contraction_tiles<Spec>;
  constexpr int BM = C::BM, BN = C::BN, DEPTH = C::DEPTH, stages = Spec::STAGES;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned first = shared_address(memory);
  const int thread = static_cast<int>(thread_of_block()), warp = thread / 32, lane = thread % 32;
  const row_block<Spec> block(a);
  const int rows = block.n, columns = Spec::n_columns(a), depth = Spec::depth(a);
  // Groups of eight tiles of rows go through all columns: what they read meanwhile stays in cache.
  const int row_tiles = largest((rows + BM - 1) / BM, 1),
            column_tiles = largest((columns + BN - 1) / BN, 1), all = row_tiles * column_tiles;
  const int own = static_cast<int>(block_of_grid() % static_cast<unsigned>(all)),
            group = own / (8 * column_tiles) * 8, height = least(row_tiles - group, 8),
            inside = own - group * column_tiles;
  const int i0 = (group + inside % height) * BM, j0 = inside / height * BN;
  const unsigned position = block_of_grid() / static_cast<unsigned>(all);
  if (position >= static_cast<unsigned>(block.folds ? Spec::n_folded_places(a) : Spec::n_places(a)))
    return;  // the grid has blocks for rows that do not fold
  const typename Spec::place at = Spec::at(a, position, block.folds);

  const int n = Spec::n_chunks(a) * ((depth + DEPTH - 1) / DEPTH);
  operand_copies<Spec, typename C::left_tile, Spec::left_by_depth> left(thread, rows - i0,
                                                                        Spec::left_stride(a));
  operand_copies<Spec, typename C::right_tile, Spec::right_by_depth> right(thread, columns - j0,
                                                                           Spec::right_stride(a));
  int chunk = 0, k0 = 0, loaded = 0, place = 0;  // of the next stage to load
  const auto load = [&]() QKV_INLINE {
    if (loaded++ < n) {
      if (k0 == 0) {
        left.begin_chunk(Spec::left(a, at, chunk) + (Spec::left_by_depth ? i0 * left.stride : i0));
        right.begin_chunk(Spec::right(a, at, chunk) +
                          (Spec::right_by_depth ? j0 * right.stride : j0));
      }
      left.load(first + place, k0, depth);
      right.load(first + place + C::left_tile::bytes, k0, depth);
      place = place == (stages - 1) * C::stage_bytes ? 0 : place + C::stage_bytes;
      k0 += DEPTH;
      if (k0 >= depth) k0 = 0, ++chunk;
    }
    commit_copies();
  };
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) load();

  typename C::sums sums = {};
  const int row = warp / Spec::COLUMN_WARPS * C::WM, column = warp % Spec::COLUMN_WARPS * C::WN;
  unsigned now = first;
#pragma unroll 1
  for (int step = 0; step < n; ++step) {
    wait_for_copies<stages - 2>();  // this stage is there
    wait_for_block();               // and all warps have finished reading the one before
    load();
    C::add_stage(sums, now, now + C::left_tile::bytes, row, column, lane);
    now = now == first + (stages - 1) * C::stage_bytes ? first : now + C::stage_bytes;
  }
  wait_for_copies<0>();

  const result_cells<Spec> result(a, at, block);
  bool undefined = false;
#pragma unroll
  for (int m = 0; m < C::MT; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = i0 + row + m * 16 + lane / 4 + h * 8;
      if (i >= rows) continue;
#pragma unroll
      for (int x = 0; x < C::NT; ++x) {
        const float low = sums[m][x][2 * h], high = sums[m][x][2 * h + 1];
        if constexpr (C::is_f32)
          undefined =
              undefined || !(magnitude(low) < infinity()) || !(magnitude(high) < infinity());
        result.store(i, j0 + column + x * 8 + lane % 4 * 2, low, high);
      }
    }
  if constexpr (C::is_f32)
    if (undefined)  // all that this thread has
#pragma unroll 1
      for (int e = 0; e < C::MT * C::NT * 4; ++e)
        result.store_plain(i0 + row + e / (4 * C::NT) * 16 + lane / 4 + e / 2 % 2 * 8,
                           j0 + column + e / 4 % C::NT * 8 + lane % 4 * 2 + e % 2);
}
