// SPDX-License-Identifier: BSL-1.0
#include "common.cuh"
// Hopper (compute capability 9.0): products of warpgroups by wgmma, which read shared memory; one
// warpgroup that copies, and barriers between it and those that compute.

// ---- wgmma: d = a b or d += a b, 64 x N x 16 ----------------------------------------------------
#define QKV_32_REGISTERS                                   \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define QKV_64_REGISTERS                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"           \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define QKV_128_REGISTERS                                                   \
  QKV_64_REGISTERS                                                          \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"       \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"        \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110," \
  "%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,"  \
  "%125,%126,%127"
#define QKV_8(d, i)                                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define QKV_32(d, i) QKV_8(d, i), QKV_8(d, i + 8), QKV_8(d, i + 16), QKV_8(d, i + 24)

// Both operands in shared memory. Their rows lie along what is summed up, or across it.
#define QKV_SHARED(n, type, list, outputs, a_at, b_at, add_at, across_a, across_b)                 \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" add_at ", 0; wgmma.mma_async.sync.aligned.m64n" n \
               "k16.f32." type "." type " {" list "}, %" a_at ", %" b_at ", p, 1, 1, %" across_a   \
               ", %" across_b ";}"                                                                 \
               : outputs                                                                           \
               : "l"(a), "l"(b), "r"(add), "n"(static_cast<int>(AcrossA)),                         \
                 "n"(static_cast<int>(AcrossB)))
#define QKV_SHARED_64(type) \
  QKV_SHARED("64", type, QKV_32_REGISTERS, QKV_LIST(QKV_32(d, 0)), "32", "33", "34", "35", "36")
#define QKV_SHARED_128(type)                                                                   \
  QKV_SHARED("128", type, QKV_64_REGISTERS, QKV_LIST(QKV_32(d, 0), QKV_32(d, 32)), "64", "65", \
             "66", "67", "68")
#define QKV_SHARED_256(type)                                                                    \
  QKV_SHARED("256", type, QKV_128_REGISTERS,                                                    \
             QKV_LIST(QKV_32(d, 0), QKV_32(d, 32), QKV_32(d, 64), QKV_32(d, 96)), "128", "129", \
             "130", "131", "132")
#define QKV_LIST(...) __VA_ARGS__
template <class Element, bool AcrossA = false, bool AcrossB = false>
QKV_DEVICE void product_of_tiles(float (&d)[32], unsigned long long a, unsigned long long b,
                                 int add) {
  if constexpr (is_same<Element, bf16_bits>)
    QKV_SHARED_64("bf16");
  else
    QKV_SHARED_64("f16");
}
template <class Element, bool AcrossA = false, bool AcrossB = false>
QKV_DEVICE void product_of_tiles(float (&d)[64], unsigned long long a, unsigned long long b,
                                 int add) {
  if constexpr (is_same<Element, bf16_bits>)
    QKV_SHARED_128("bf16");
  else
    QKV_SHARED_128("f16");
}
template <class Element, bool AcrossA = false, bool AcrossB = false>
QKV_DEVICE void product_of_tiles(float (&d)[128], unsigned long long a, unsigned long long b,
                                 int add) {
  if constexpr (is_same<Element, bf16_bits>)
    QKV_SHARED_256("bf16");
  else
    QKV_SHARED_256("f16");
}

// a in registers, b in shared memory with its columns together.
#define QKV_ADD(n, type, list, outputs, k0, k1, k2, k3, k4)                                        \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" list "}, {%" k0 \
               ", %" k1 ", %" k2 ", %" k3 "}, %" k4 ", 1, 1, 1, 1;"                                \
               : outputs                                                                           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define QKV_ADD_64(type) \
  QKV_ADD("64", type, QKV_32_REGISTERS, QKV_LIST(QKV_32(d, 0)), "32", "33", "34", "35", "36")
#define QKV_ADD_128(type)                                                                         \
  QKV_ADD("128", type, QKV_64_REGISTERS, QKV_LIST(QKV_32(d, 0), QKV_32(d, 32)), "64", "65", "66", \
          "67", "68")
template <class Element>
QKV_DEVICE void add_product(float (&d)[32], const unsigned *a, unsigned long long b) {
  if constexpr (is_same<Element, bf16_bits>)
    QKV_ADD_64("bf16");
  else
    QKV_ADD_64("f16");
}
template <class Element>
QKV_DEVICE void add_product(float (&d)[64], const unsigned *a, unsigned long long b) {
  if constexpr (is_same<Element, bf16_bits>)
    QKV_ADD_128("bf16");
  else
    QKV_ADD_128("f16");
}

QKV_DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
QKV_DEVICE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
QKV_DEVICE void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// Keeps ptxas from waiting before these numbers, which are not negative, are computed: it would
// move the wait up, and nothing would run beside the products. A store that never happens.
QKV_DEVICE void compute_before_waiting(const float (&x)[2], unsigned shared) {
  asm volatile(
      "{.reg .pred p; setp.lt.f32 p, %0, 0fBF800000; @p st.shared.f32 [%2], %0; "
      "setp.lt.f32 p, %1, 0fBF800000; @p st.shared.f32 [%2], %1;}" ::"f"(x[0]),
      "f"(x[1]), "r"(shared)
      : "memory");
}
// Keeps the compiler from moving accumulators over a wait.
template <int N>
QKV_DEVICE void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
// An operand in shared memory: a tile in planes of 64 columns, in units of 16 bytes. `leading`:
// from one plane to the next where what is not summed up lies along columns.
struct shared_operand {
  unsigned low;
  QKV_DEVICE explicit shared_operand(unsigned at, unsigned leading = 0)
      : low((at & 0x3ffff) >> 4 | leading >> 4 << 16) {}
  QKV_DEVICE unsigned long long further(int bytes) const {
    unsigned long long descriptor;
    asm("mov.b64 %0, {%1, %2};"
        : "=l"(descriptor)
        : "r"(low + static_cast<unsigned>(bytes >> 4)), "r"(64 | 1 << 30));
    return descriptor;
  }
};

// The warpgroup that copies gives registers to those that compute. Three share 504 of each lane;
// the argument is what this one keeps, or has then.
template <int N>
QKV_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
QKV_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

// ---- barriers in shared memory ------------------------------------------------------------------
QKV_DEVICE void init_barrier(unsigned at, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}
QKV_DEVICE void arrive(unsigned at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
// The same, once all copies of this thread are there.
QKV_DEVICE void arrive_after_copies(unsigned at) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at) : "memory");
}
QKV_DEVICE void wait_for(unsigned at, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at),
      "r"(parity)
      : "memory");
}
QKV_DEVICE void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Makes visible to wgmma what other threads wrote to shared memory, as far as this one has seen it.
QKV_DEVICE void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Places of tiles that one side fills and the other one empties, and a barrier for each event.
template <int N>
struct stages {
  unsigned first;
  static constexpr int bytes = 16 * N;
  QKV_DEVICE unsigned full(int stage) const { return first + 8 * stage; }
  QKV_DEVICE unsigned free(int stage) const { return first + 8 * (N + stage); }
  QKV_DEVICE void init(int arrivals_of_copies, int arrivals_of_readers) const {
    for (int s = 0; s < N; ++s) {
      init_barrier(full(s), arrivals_of_copies);
      init_barrier(free(s), arrivals_of_readers);
    }
  }
};

// The stage of a tile, and how often it was used before.
template <int N>
struct turn {
  int stage = 0, round = 0;
  QKV_DEVICE void next() {
    if (++stage == N) stage = 0, ++round;
  }
};
