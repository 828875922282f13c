// SPDX-License-Identifier: BSL-1.0
#include "common.cuh"
// Parts that skeletons of contractions share: sums over what two tensors share.
//   a block: BM rows x BN columns of the result
//   the depth, which is summed up, comes by cp.async into STAGES places of DEPTH each
// `spec` gives sizes, addresses, and what becomes of each sum. The depth consists of chunks, along
// each of which the positions are those of one axis. An operand lies by depth, or by its rows or
// columns: those are neighbours in memory.

template <class Spec>
struct contraction_operands {
  using number = typename Spec::number;
  static constexpr int BM = Spec::BM, BN = Spec::BN, DEPTH = Spec::DEPTH;
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

// The tile of a block. Groups of eight tiles of rows go through all columns: what they read
// meanwhile stays in cache.
template <class Spec>
struct contraction_block {
  row_block<Spec> rows;
  int i0, j0;
  typename Spec::place at;
  bool exists;  // the grid has blocks for rows that do not fold

  QKV_DEVICE explicit contraction_block(const typename Spec::arguments &a) : rows(a) {
    constexpr int BM = Spec::BM, BN = Spec::BN;
    const int row_tiles = largest((rows.n + BM - 1) / BM, 1),
              column_tiles = largest((Spec::n_columns(a) + BN - 1) / BN, 1),
              all = row_tiles * column_tiles;
    const int own = static_cast<int>(block_of_grid() % static_cast<unsigned>(all)),
              group = own / (8 * column_tiles) * 8, height = least(row_tiles - group, 8),
              inside = own - group * column_tiles;
    i0 = (group + inside % height) * BM;
    j0 = inside / height * BN;
    const unsigned position = block_of_grid() / static_cast<unsigned>(all);
    exists =
        position < static_cast<unsigned>(rows.folds ? Spec::n_folded_places(a) : Spec::n_places(a));
    at = Spec::at(a, position, rows.folds);
  }
};

// The copies of an operand: rows of a tile, `across` of which exist, along the depth.
template <class Spec, class Tile, bool ByDepth, int Threads>
struct operand_copies {
  using number = typename Tile::number;
  static constexpr int DEPTH = Spec::DEPTH, pieces = Tile::pieces,
                       each = Tile::rows * pieces / Threads, step = Threads / pieces;
  static_assert(Threads % pieces == 0 && Tile::rows % step == 0 && (step & (step - 1)) == 0);
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
      const unsigned own = to + Tile::at(row, piece);
#pragma unroll
      for (int k = 0; k < each; ++k, source += further)
        copy_16(Tile::further(own, k * step, 0), source);
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

// The copies of both operands of a block, stage after stage, by so many threads.
template <class Spec, int Threads>
class stage_copies {
  using C = contraction_operands<Spec>;
  const typename Spec::arguments &a_;
  const contraction_block<Spec> &block_;
  operand_copies<Spec, typename C::left_tile, Spec::left_by_depth, Threads> left_;
  operand_copies<Spec, typename C::right_tile, Spec::right_by_depth, Threads> right_;
  int depth_, chunk_ = 0, k0_ = 0;  // of the next stage

 public:
  int n;  // stages in all

  QKV_DEVICE stage_copies(const typename Spec::arguments &a, const contraction_block<Spec> &block,
                          int thread)
      : a_(a),
        block_(block),
        left_(thread, block.rows.n - block.i0, Spec::left_stride(a)),
        right_(thread, Spec::n_columns(a) - block.j0, Spec::right_stride(a)),
        depth_(Spec::depth(a)),
        n(n_stages(a)) {}

  static QKV_DEVICE int n_stages(const typename Spec::arguments &a) {
    return Spec::n_chunks(a) * ((Spec::depth(a) + Spec::DEPTH - 1) / Spec::DEPTH);
  }

  QKV_DEVICE void load(unsigned to) {
    const int i0 = block_.i0, j0 = block_.j0;
    if (k0_ == 0) {
      left_.begin_chunk(Spec::left(a_, block_.at, chunk_) +
                        (Spec::left_by_depth ? i0 * left_.stride : i0));
      right_.begin_chunk(Spec::right(a_, block_.at, chunk_) +
                         (Spec::right_by_depth ? j0 * right_.stride : j0));
    }
    left_.load(to, k0_, depth_);
    right_.load(to + C::left_tile::bytes, k0_, depth_);
    k0_ += Spec::DEPTH;
    if (k0_ >= depth_) k0_ = 0, ++chunk_;
  }
};

// Where a block writes, two columns at a time.
template <class Spec>
struct result_cells {
  using number = typename Spec::result_number;
  const typename Spec::arguments &a;
  const contraction_block<Spec> &block;
  int columns, row_stride, column_stride;
  number *first;
  bool pairs, whole;  // whole: pairs, and none is missing

  QKV_DEVICE result_cells(const typename Spec::arguments &arguments,
                          const contraction_block<Spec> &of)
      : a(arguments),
        block(of),
        columns(Spec::n_columns(a)),
        row_stride(Spec::result_stride(a)),
        column_stride(Spec::result_column_stride(a)),
        first(Spec::result(a, block.at)),
        pairs(column_stride == 1 && is_aligned(first, row_stride, 2 * sizeof(number))),
        whole(pairs && block.j0 + Spec::BN <= columns) {}

  QKV_DEVICE typename Spec::place place_of(int row) const {
    return block.rows.place_of(block.at, row);
  }
  QKV_DEVICE number finished(int row, int column, float sum) const {
    return Spec::finish(a, place_of(row), block.rows.index_of(row), column, sum);
  }
  QKV_DEVICE number *cell(int row, int column) const {
    return first + static_cast<long long>(row) * row_stride +
           static_cast<long long>(column) * column_stride;
  }
  template <bool Whole>
  QKV_DEVICE void store(int row, int column, float low, float high) const {
    if constexpr (Whole)
      store_pair(cell(row, column), finished(row, column, low), finished(row, column + 1, high));
    else
      store_existing(row, column, low, high);
  }
  QKV_DEVICE void store_existing(int row, int column, float low, float high) const {
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
    if (row >= block.rows.n || column >= columns) return;
    const float sum = plain_sum<Spec>(a, place_of(row), block.rows.index_of(row), column);
    *cell(row, column) = finished(row, column, sum);
  }
};
