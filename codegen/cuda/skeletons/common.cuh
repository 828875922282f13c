// What printed kernels and skeletons share: numbers, positions, memory. No header of CUDA is
// needed, so that clang compiles it alone.
#if defined(__clang__) && !defined(__NVCC__)
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#endif
#define QKV_DEVICE __device__ __forceinline__
#define QKV_INLINE \
  __attribute__((always_inline))  // of a lambda: a call would move registers to memory

struct bf16_bits {};
struct f16_bits {};
struct f32_number {};

template <class A, class B>
constexpr bool is_same = false;
template <class A>
constexpr bool is_same<A, A> = true;

template <bool B>
struct constant {
  static constexpr bool value = B;
};

// ---- numbers ------------------------------------------------------------------------------------
QKV_DEVICE float float_of_bits(int x) {
  float y;
  asm("mov.b32 %0, %1;" : "=f"(y) : "r"(x));
  return y;
}
QKV_DEVICE int bits_of_float(float x) {
  int y;
  asm("mov.b32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}
QKV_DEVICE float infinity() { return float_of_bits(0x7f800000); }
QKV_DEVICE bool is_undefined(float x) {
  return (bits_of_float(x) & 0x7fffffff) > 0x7f800000;
}  // NaN
QKV_DEVICE float not_a_number() { return float_of_bits(0x7fc00000); }

// Each rounds once, and is not fused with another one.
#define QKV_ROUNDED(name, instruction)                                 \
  QKV_DEVICE float name(float a, float b) {                            \
    float c;                                                           \
    asm(instruction ".rn.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b)); \
    return c;                                                          \
  }
QKV_ROUNDED(strict_add, "add")
QKV_ROUNDED(strict_sub, "sub")
QKV_ROUNDED(strict_mul, "mul")
QKV_ROUNDED(strict_div, "div")
#undef QKV_ROUNDED
QKV_DEVICE float strict_min(float a, float b) { return a < b ? a : b; }
QKV_DEVICE float strict_max(float a, float b) { return a > b ? a : b; }

template <class T>
QKV_DEVICE T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
QKV_DEVICE T largest(T a, T b) {
  return a < b ? b : a;
}
QKV_DEVICE float larger(float a, float b) {  // one instruction; the other operand where one is NaN
  float c;
  asm("max.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
QKV_DEVICE float fused(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}
QKV_DEVICE int magnitude(int a) { return a < 0 ? -a : a; }
// The same number, from which compilers derive no others: they would count along with a loop in one
// register for each column that it compares.
QKV_DEVICE int underived(int a) {
  asm volatile("" : "+r"(a));
  return a;
}
QKV_DEVICE float magnitude(float a) { return float_of_bits(bits_of_float(a) & 0x7fffffff); }
#define QKV_FUNCTION(name, instruction)                 \
  QKV_DEVICE float name(float a) {                      \
    float b;                                            \
    asm(instruction ".f32 %0, %1;" : "=f"(b) : "f"(a)); \
    return b;                                           \
  }
QKV_FUNCTION(square_root, "sqrt.rn")
QKV_FUNCTION(floor_of, "cvt.rmi.f32")
QKV_FUNCTION(ceiling_of, "cvt.rpi.f32")
QKV_FUNCTION(nearest_of, "cvt.rni.f32")
QKV_FUNCTION(truncated, "cvt.rzi.f32")
QKV_FUNCTION(power_of_two, "ex2.approx.ftz")
#undef QKV_FUNCTION

// Rounded towards minus infinity where the divisor is positive; 0 where it is 0.
template <class T>
QKV_DEVICE T quotient(T a, T b) {
  if (b == 0) return 0;
  const T q = a / b, r = a - q * b;
  return r < 0 ? q - (b > 0 ? 1 : -1) : q;
}
template <class T>
QKV_DEVICE T remainder_of(T a, T b) {
  return b == 0 ? 0 : a - quotient(a, b) * b;
}

QKV_DEVICE float number_of_bf16(unsigned short x) {
  return float_of_bits(static_cast<int>(x) << 16);
}
QKV_DEVICE float number_of_f16(unsigned short x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
QKV_DEVICE unsigned short f16_of(float x) {
  unsigned short y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
QKV_DEVICE unsigned short bf16_of(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
template <class Element>
QKV_DEVICE float number_of(unsigned short x) {
  if constexpr (is_same<Element, bf16_bits>)
    return number_of_bf16(x);
  else
    return number_of_f16(x);
}
template <class Element>
QKV_DEVICE float number_of(float x) {
  return x;
}
template <class Element>
QKV_DEVICE auto rounded(float x) {
  if constexpr (is_same<Element, f32_number>)
    return x;
  else if constexpr (is_same<Element, bf16_bits>)
    return bf16_of(x);
  else
    return f16_of(x);
}
// Two numbers, the lower half first.
template <class Element>
QKV_DEVICE unsigned rounded_pair(float low, float high) {
  unsigned r;
  if constexpr (is_same<Element, bf16_bits>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
// Natural logarithm of a positive number (fdlibm): log m = f - f^2/2 + s (f^2/2 + R(s)).
QKV_DEVICE float logarithm(float x) {
  const int half = 0x3f3504f3, n = (bits_of_float(x) - half) >> 23;  // half: of sqrt(1/2)
  const float f = float_of_bits(bits_of_float(x) - (n << 23)) - 1.f, s = f / (2.f + f), z = s * s,
              h = 0.5f * f * f, k = static_cast<float>(n);
  const float R =
      z * (0.66666662693f + z * (0.40000972152f + z * (0.28498786688f + z * 0.24279078841f)));
  return k * 0.69313812256f - ((h - (s * (h + R) + k * 9.0580006145e-6f)) - f);
}

// ---- threads ------------------------------------------------------------------------------------
#define QKV_REGISTER(name, source)            \
  QKV_DEVICE unsigned name() {                \
    unsigned x;                               \
    asm("mov.u32 %0, " source ";" : "=r"(x)); \
    return x;                                 \
  }
QKV_REGISTER(thread_of_block, "%%tid.x")
QKV_REGISTER(block_of_grid, "%%ctaid.x")
#undef QKV_REGISTER
QKV_DEVICE void wait_for_block() { asm volatile("bar.sync 0;" ::: "memory"); }
// Whether it is true in some lane of the warp.
QKV_DEVICE bool any_of_warp(bool mine) {
  int all;
  asm volatile(
      "{.reg .pred p, q; bar.warp.sync -1; setp.ne.s32 p, %1, 0; "
      "vote.sync.any.pred q, p, -1; selp.s32 %0, 1, 0, q;}"
      : "=r"(all)
      : "r"(static_cast<int>(mine))
      : "memory");
  return all != 0;
}
QKV_DEVICE float of_lane(float x, int lane) {
  int y;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;"
               : "=r"(y)
               : "r"(bits_of_float(x)), "r"(lane));
  return float_of_bits(y);
}
QKV_DEVICE float of_neighbour(float x, int distance) {
  int y;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;"
               : "=r"(y)
               : "r"(bits_of_float(x)), "r"(distance));
  return float_of_bits(y);
}
QKV_DEVICE float largest_of_four(float x) {  // of the lanes that share a row
  x = larger(x, of_neighbour(x, 1));
  return larger(x, of_neighbour(x, 2));
}
QKV_DEVICE float sum_of_four(float x) {
  x += of_neighbour(x, 1);
  return x + of_neighbour(x, 2);
}

// ---- shared memory ------------------------------------------------------------------------------
QKV_DEVICE unsigned shared_address(const void *p) {
  unsigned long long address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return static_cast<unsigned>(address);
}
QKV_DEVICE void copy_16(unsigned to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// 16 bytes; zeros where `there` is false.
QKV_DEVICE void copy_16(unsigned to, const void *from, bool there) {
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
QKV_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
QKV_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
QKV_DEVICE void wait_for_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
QKV_DEVICE void store_number(unsigned to, unsigned short x) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(x) : "memory");
}
QKV_DEVICE void store_number(unsigned to, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory");
}
QKV_DEVICE float load_number(unsigned from) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
  return x;
}
// Four matrices of eight rows of 16 bytes; `at`: of one row, by lanes.
template <bool Transposed>
QKV_DEVICE void load_matrices(unsigned (&r)[4], unsigned at) {
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

// A tile of numbers: planes of 128 bytes a row, whose pieces of 16 bytes are exchanged by the row's
// number, so that neither ldmatrix nor copies meet in a bank.
template <int Rows, int Columns, class Number>
struct tile {
  using number = Number;
  static constexpr int rows = Rows, columns = Columns, in_piece = 16 / sizeof(Number),
                       in_plane = 8 * in_piece,
                       padded_columns = (Columns + in_plane - 1) / in_plane * in_plane,
                       pieces = padded_columns / in_piece, bytes = Rows * pieces * 16;
  static QKV_DEVICE unsigned at(int row, int piece) {
    return static_cast<unsigned>((piece / 8 * Rows + row) * 128 + ((piece ^ row) & 7) * 16);
  }
  static QKV_DEVICE unsigned of_element(int row, int column) {
    return at(row, column / in_piece) + static_cast<unsigned>(column % in_piece * sizeof(Number));
  }
};

// Rows of a tensor from `first` on into a tile; zeros beyond row `n` and beyond the columns.
// Addresses are aligned to 16 bytes.
template <class Tile, int Threads>
QKV_DEVICE void copy_tile(unsigned to, const typename Tile::number *from, int stride, int first,
                          int n, int thread) {
  constexpr int pieces = Tile::pieces, all = Tile::rows * pieces;
  static_assert(all % Threads == 0);
  if constexpr (Threads % pieces == 0) {  // a thread has the same piece of every so many rows
    constexpr int step = Threads / pieces;
    const int r = thread / pieces, c = thread % pieces;
    const bool inside = c * Tile::in_piece < Tile::columns;
    const typename Tile::number *source =
        from + static_cast<long long>(first + r) * stride + c * Tile::in_piece;
    const long long further = static_cast<long long>(stride) * step;
    if (first + Tile::rows <= n) {
#pragma unroll
      for (int k = 0; k < all / Threads; ++k, source += further)
        if constexpr (Tile::columns == Tile::padded_columns)
          copy_16(to + Tile::at(r + k * step, c), source);
        else
          copy_16(to + Tile::at(r + k * step, c), source, inside);
    } else {
#pragma unroll
      for (int k = 0; k < all / Threads; ++k, source += further)
        copy_16(to + Tile::at(r + k * step, c), source, inside && first + r + k * step < n);
    }
  } else {
#pragma unroll
    for (int k = 0; k < all / Threads; ++k) {
      const int e = thread + k * Threads, r = e / pieces, c = e % pieces;
      copy_16(to + Tile::at(r, c),
              from + static_cast<long long>(first + r) * stride + c * Tile::in_piece,
              c * Tile::in_piece < Tile::columns && first + r < n);
    }
  }
}

// The same by elements, wherever they lie, at once.
template <class Tile, int Threads>
QKV_DEVICE void gather_tile(unsigned to, const typename Tile::number *from, int stride, int first,
                            int n, int thread) {
#pragma unroll 1
  for (int e = thread; e < Tile::rows * Tile::padded_columns; e += Threads) {
    const int r = e / Tile::padded_columns, c = e % Tile::padded_columns;
    const bool there = first + r < n && c < Tile::columns;
    store_number(
        to + Tile::of_element(r, c),
        there ? from[static_cast<long long>(first + r) * stride + c] : typename Tile::number(0));
  }
}

template <class Tile, int Threads>
QKV_DEVICE void load_tile(unsigned to, const typename Tile::number *from, int stride, int first,
                          int n, bool aligned, int thread) {
  if (Tile::columns % Tile::in_piece == 0 && aligned)
    copy_tile<Tile, Threads>(to, from, stride, first, n, thread);
  else
    gather_tile<Tile, Threads>(to, from, stride, first, n, thread);
}

// Whether rows begin at multiples of so many bytes.
template <class Number>
QKV_DEVICE bool is_aligned(const Number *p, int stride, unsigned bytes = 16) {
  return ((reinterpret_cast<unsigned long long>(p) |
           static_cast<unsigned long long>(stride) * sizeof(Number)) &
          (bytes - 1)) == 0;
}

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

// Whether the pair exists and is not masked.
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
// Whether no pair of the rows and the keys is hidden.
template <class Spec>
QKV_DEVICE bool is_whole(const typename Spec::arguments &a, const typename Spec::place &at, int i0,
                         int i1, int j0, int j1) {
  if (j1 > Spec::n_keys(a)) return false;
  if constexpr (Spec::is_masked) return Spec::all_kept(a, at, i0, i1, j0, j1);
  return true;
}
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

// Where a block writes, two columns at a time.
template <class Spec>
struct result_rows {
  using number = typename Spec::number;
  number *first;
  int stride;
  bool pairs;

  QKV_DEVICE result_rows(const typename Spec::arguments &a, const typename Spec::place &at)
      : first(Spec::result(a, at)),
        stride(Spec::result_stride(a)),
        pairs(is_aligned(first, stride, 2 * sizeof(number))) {}

  QKV_DEVICE void store(int row, int column, float low, float high) const {
    if (column >= Spec::DV) return;
    number *cell = first + static_cast<long long>(row) * stride + column;
    if (pairs && (Spec::DV % 2 == 0 || column + 1 < Spec::DV)) {
      store_pair(cell, low, high);
    } else {
      cell[0] = rounded<typename Spec::element>(low);
      if (column + 1 < Spec::DV) cell[1] = rounded<typename Spec::element>(high);
    }
  }

 private:
  static QKV_DEVICE void store_pair(unsigned short *cell, float low, float high) {
    *reinterpret_cast<unsigned *>(cell) = rounded_pair<typename Spec::element>(low, high);
  }
  static QKV_DEVICE void store_pair(float *cell, float low, float high) {
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(cell), "f"(low), "f"(high) : "memory");
  }
};

template <class Spec>
QKV_DEVICE void store_lse(const typename Spec::arguments &a, const typename Spec::place &at,
                          int row, float base, float total) {
  Spec::lse(a, at)[static_cast<long long>(row) * Spec::lse_stride(a)] =
      total == 0 ? -infinity() : base * log_of_2 + logarithm(total);
}

// The rows of a block and the tiles of keys that they see. The longest rows of a causal mask come
// first.
template <class Spec>
struct block {
  typename Spec::place at;
  int i0, from, to;

  QKV_DEVICE explicit block(const typename Spec::arguments &a) {
    constexpr int BM = Spec::BM, BN = Spec::BN;
    const int rows = Spec::n_rows(a);
    const unsigned tiles = static_cast<unsigned>(largest((rows + BM - 1) / BM, 1));
    at = Spec::at(a, block_of_grid() / tiles);
    i0 = static_cast<int>(tiles - 1 - block_of_grid() % tiles) * BM;
    const range seen = keys_of_rows<Spec>(a, at, i0, least(i0 + BM, rows));
    from = seen.first / BN;
    to = (seen.end + BN - 1) / BN;
  }
};

// The operands of a block.
template <class Spec>
struct operands {
  const typename Spec::number *q, *k, *v;
  int q_stride, k_stride, v_stride;
  bool aligned;

  QKV_DEVICE operands(const typename Spec::arguments &a, const typename Spec::place &at)
      : q(Spec::queries(a, at)),
        k(Spec::keys(a, at)),
        v(Spec::values(a, at)),
        q_stride(Spec::queries_stride(a)),
        k_stride(Spec::keys_stride(a)),
        v_stride(Spec::values_stride(a)),
        aligned(is_aligned(q, q_stride) && is_aligned(k, k_stride) && is_aligned(v, v_stride)) {}
};

// ---- rows one at a time -------------------------------------------------------------------------
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
    float now = s;
    for (int distance = 16; distance > 0; distance /= 2)
      now = larger(now, of_neighbour(now, distance));
    now = larger(most, now);
    base = now == -infinity() ? 0.f : now * factor;
    const float scale = power_of_two(fused(most, factor, -base)),
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
  for (int distance = 16; distance > 0; distance /= 2) sum += of_neighbour(sum, distance);
  const float inverse = sum == 0 ? 0.f : 1 / sum;
  auto *result = Spec::result(a, at) + static_cast<long long>(i) * Spec::result_stride(a);
#pragma unroll
  for (int c = 0; c < columns; ++c)
    if (c * 32 + lane < Spec::DV) result[c * 32 + lane] = rounded<T>(o[c] * inverse);
  if constexpr (Spec::has_lse)
    if (lane == 0) store_lse<Spec>(a, at, i, most * factor, sum);
}

// All of these rows, where one has become NaN.
template <class Spec>
QKV_DEVICE void compute_again(bool undefined, const typename Spec::arguments &a,
                              const typename Spec::place &at, int first, int n, int lane) {
  if (any_of_warp(undefined))
    for (int r = 0; r < n && first + r < Spec::n_rows(a); ++r)
      compute_row<Spec>(a, at, first + r, lane);
}
