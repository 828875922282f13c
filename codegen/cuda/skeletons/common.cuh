// SPDX-License-Identifier: BSL-1.0
// Shared by printed kernels and skeletons: numbers, positions, memory. No header of CUDA is needed,
// so that clang compiles it alone.
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
// The same, less which both numbers become: the rest that rounding has lost.
template <class Element>
QKV_DEVICE unsigned part_of_pair(float &low, float &high) {
  const unsigned pair = rounded_pair<Element>(low, high);
  low -= number_of<Element>(static_cast<unsigned short>(pair & 0xffff));
  high -= number_of<Element>(static_cast<unsigned short>(pair >> 16));
  return pair;
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
QKV_REGISTER(blocks_of_grid, "%%nctaid.x")
#undef QKV_REGISTER
QKV_DEVICE void wait_for_block() { asm volatile("bar.sync 0;" ::: "memory"); }
QKV_DEVICE void wait_for_warp() { asm volatile("bar.warp.sync -1;" ::: "memory"); }
// True if `mine` is, in some lane of the warp.
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
QKV_DEVICE float largest_of_warp(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x = larger(x, of_neighbour(x, distance));
  return x;
}
QKV_DEVICE float sum_of_warp(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x += of_neighbour(x, distance);
  return x;
}
QKV_DEVICE float largest_of_four(float x) {  // of the lanes that share a row
  x = larger(x, of_neighbour(x, 1));
  return larger(x, of_neighbour(x, 2));
}
QKV_DEVICE float sum_of_four(float x) {
  x += of_neighbour(x, 1);
  return x + of_neighbour(x, 2);
}

// ---- global memory -----------------------------------------------------------------------------
// Two neighbours, aligned to the size of both.
QKV_DEVICE void store_pair(unsigned short *cell, unsigned short low, unsigned short high) {
  *reinterpret_cast<unsigned *>(cell) = low | static_cast<unsigned>(high) << 16;
}
QKV_DEVICE void store_pair(float *cell, float low, float high) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(cell), "f"(low), "f"(high) : "memory");
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
// So many bytes of 16, and zeros.
QKV_DEVICE void copy_bytes(unsigned to, const void *from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
// 16 bytes; zeros where `there` is false.
QKV_DEVICE void copy_16(unsigned to, const void *from, bool there) {
  copy_bytes(to, from, there ? 16 : 0);
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
QKV_DEVICE unsigned load_bits(unsigned from) {
  unsigned x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}
QKV_DEVICE void load_two(float &x, float &y, unsigned from) {
  // No other load has to be repeated after it.
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(x), "=f"(y) : "r"(from));
}
QKV_DEVICE void load_four(float (&x)[4], unsigned from) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
               : "r"(from)
               : "memory");
}
QKV_DEVICE void store_four(unsigned to, const unsigned (&x)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]),
               "r"(x[3])
               : "memory");
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
  // The address so many rows and pieces further: one instruction exchanges pieces, where at() would
  // compute anew. The bits of these numbers below 8 are zeros in the row and the piece of the
  // address.
  static QKV_DEVICE unsigned further(unsigned address, int more_rows, int more_pieces) {
    return (address ^ static_cast<unsigned>((more_rows ^ more_pieces) % 8 * 16)) +
           static_cast<unsigned>((more_pieces / 8 * Rows + more_rows) * 128);
  }
};

// Rows of a tensor from `first` on into a tile; zeros beyond row `n` and beyond the columns.
// Addresses are aligned to 16 bytes.
template <class Tile, int Threads>
QKV_DEVICE void copy_tile(unsigned to, const typename Tile::number *from, int stride, int first,
                          int n, int thread) {
  constexpr int pieces = Tile::pieces, all = Tile::rows * pieces,
                rounds = (all + Threads - 1) / Threads;
  constexpr bool even = all % Threads == 0, full = Tile::columns == Tile::padded_columns;
  constexpr int step = Threads / pieces;
  if constexpr (Threads % pieces == 0 && (step & (step - 1)) == 0) {
    // A thread has the same piece of every so many rows.
    const int r = thread / pieces, c = thread % pieces;
    const bool inside = c * Tile::in_piece < Tile::columns, whole = first + Tile::rows <= n;
    const typename Tile::number *source =
        from + static_cast<long long>(first + r) * stride + c * Tile::in_piece;
    const long long distance = static_cast<long long>(stride) * step;
    const unsigned own = to + Tile::at(r, c);
    const auto copy = [&](auto checked) QKV_INLINE {
#pragma unroll
      for (int k = 0; k < rounds; ++k, source += distance) {
        if (!even && r + k * step >= Tile::rows) break;
        if constexpr (checked.value || !full)
          copy_16(Tile::further(own, k * step, 0), source,
                  inside && (!checked.value || first + r + k * step < n));
        else
          copy_16(Tile::further(own, k * step, 0), source);
      }
    };
    if (whole)
      copy(constant<false>{});
    else
      copy(constant<true>{});
  } else {
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
      const int e = thread + k * Threads, r = e / pieces, c = e % pieces;
      if (!even && e >= all) break;
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

// True if rows begin at multiples of so many bytes.
template <class Number>
QKV_DEVICE bool is_aligned(const Number *p, int stride, unsigned bytes = 16) {
  return ((reinterpret_cast<unsigned long long>(p) |
           static_cast<unsigned long long>(stride) * sizeof(Number)) &
          (bytes - 1)) == 0;
}
