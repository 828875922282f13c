// SPDX-License-Identifier: BSL-1.0
#include "attention.cuh"
// Attention on Hopper (compute capability 9.0): products by wgmma; the scheme of FlashAttention-3
// (Shah et al. 2024).
//   warpgroup 0 copies tiles of keys and values into three stages each, as they become free
//   warpgroups 1 and 2: 64 queries each; the products of the next tile run under the softmax of this
//   one, and the two groups take turns at the tensor cores
// `spec` gives sizes, addresses, score, mask, and the keys that rows see. BM and BN are 128, D and
// DV at most that.

// ---- wgmma: d = a b or d += a b, 64 x N x 16 ----------------------------------------------------
#define QKV_32_REGISTERS                                   \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define QKV_64_REGISTERS                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"           \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define QKV_8(d, i)                                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define QKV_32(d, i) QKV_8(d, i), QKV_8(d, i + 8), QKV_8(d, i + 16), QKV_8(d, i + 24)

// Both operands in shared memory, rows of 64 bytes and more along what is summed up.
#define QKV_SHARED(type)                                                                 \
  asm volatile(                                                                          \
      "{.reg .pred p; setp.ne.b32 p, %66, 0; "                                           \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" QKV_64_REGISTERS \
      "}, %64, %65, p, 1, 1, 0, 0;}"                                                     \
      : QKV_32(d, 0), QKV_32(d, 32)                                                      \
      : "l"(a), "l"(b), "r"(add))
template <class Element>
QKV_DEVICE void product_of_tiles(float (&d)[64], unsigned long long a, unsigned long long b,
                                 int add) {
  if constexpr (is_same<Element, bf16_bits>)
    QKV_SHARED("bf16");
  else
    QKV_SHARED("f16");
}
#undef QKV_SHARED

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
#define QKV_LIST(...) __VA_ARGS__
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
// Keeps the compiler from moving accumulators over a wait.
template <int N>
QKV_DEVICE void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
// Of a tile in planes of 64 columns. `leading`: from one plane to the next where columns are N.
QKV_DEVICE unsigned long long descriptor(unsigned at, unsigned leading) {
  return static_cast<unsigned long long>((at & 0x3ffff) >> 4) |
         static_cast<unsigned long long>((leading & 0x3ffff) >> 4) << 16 | 64ull << 32 | 1ull << 62;
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
// What other threads wrote to shared memory, as far as this one has seen it, becomes visible to
// wgmma.
QKV_DEVICE void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Places of tiles that one side fills and the other one empties, and a barrier for each event.
constexpr int n_stages = 3;
struct stages {
  unsigned first;
  static constexpr int bytes = 16 * n_stages;
  QKV_DEVICE unsigned full(int stage) const { return first + 8 * stage; }
  QKV_DEVICE unsigned free(int stage) const { return first + 8 * (n_stages + stage); }
};

// The stage of a tile, and how often it was used before.
struct turn {
  int stage = 0, round = 0;
  QKV_DEVICE void next() {
    if (++stage == n_stages) stage = 0, ++round;
  }
};

template <class Spec>
struct wgmma_attention {
  using T = typename Spec::element;
  using A = const typename Spec::arguments &;
  using P = const typename Spec::place &;
  static constexpr int D = Spec::D, DV = Spec::DV, BM = Spec::BM, BN = Spec::BN;
  static_assert(BM == 128 && BN == 128 && D <= 128 && DV <= 128);
  using q_tile = tile<BM, D, unsigned short>;
  using k_tile = tile<BN, D, unsigned short>;
  using v_tile = tile<BN, DV, unsigned short>;
  static constexpr int steps = (D + 15) / 16, columns = v_tile::padded_columns;

  // The first warpgroup. Each thread arrives at a barrier once its copies are there.
  static QKV_DEVICE void copy(A a, P at, int i0, int from, int tiles, unsigned sq, unsigned sk,
                              unsigned sv, unsigned q_full, stages k_bars, stages v_bars) {
    const int thread = static_cast<int>(thread_of_block()), keys = Spec::n_keys(a);
    const operands<Spec> x(a, at);
    const bool q_aligned = x.q_aligned && D % 8 == 0, k_aligned = x.k_aligned && D % 8 == 0,
               v_aligned = x.v_aligned && DV % 8 == 0;
    const auto announce = [&](unsigned bar, bool aligned) QKV_INLINE {
      if (aligned)
        arrive_after_copies(bar);
      else
        arrive(bar);
    };
    load_tile<q_tile, 128>(sq, x.q, x.q_stride, i0, Spec::n_rows(a), q_aligned, thread);
    announce(q_full, q_aligned);
    turn now;
    for (int n = 0; n < tiles; ++n, now.next()) {
      const int stage = now.stage, parity = (now.round & 1) ^ 1, j0 = (from + n) * BN;
      wait_for(k_bars.free(stage), parity);
      load_tile<k_tile, 128>(sk + stage * k_tile::bytes, x.k, x.k_stride, j0, keys, k_aligned,
                             thread);
      announce(k_bars.full(stage), k_aligned);
      wait_for(v_bars.free(stage), parity);
      load_tile<v_tile, 128>(sv + stage * v_tile::bytes, x.v, x.v_stride, j0, keys, v_aligned,
                             thread);
      announce(v_bars.full(stage), v_aligned);
    }
    wait_for_all_copies();  // none may be under way when the thread ends
  }
};

template <class Spec>
QKV_DEVICE void wgmma(const typename Spec::arguments &a) {
  using W = wgmma_attention<Spec>;
  using T = typename W::T;
  constexpr int BM = W::BM, BN = W::BN;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned sq = shared_address(memory), sk = sq + W::q_tile::bytes,
                 sv = sk + n_stages * W::k_tile::bytes, q_full = sv + n_stages * W::v_tile::bytes;
  const stages k_bars{q_full + 8}, v_bars{q_full + 8 + stages::bytes};
  const int rows = Spec::n_rows(a), keys = Spec::n_keys(a);
  const block<Spec> own(a);
  const auto &at = own.at;
  const int i0 = own.i0, from = own.from, tiles = largest(own.to - from, 0);
  const int group = static_cast<int>(thread_of_block()) / 128;

  if (thread_of_block() == 0) {
    init_barrier(q_full, 128);
    for (int s = 0; s < n_stages; ++s) {
      init_barrier(k_bars.full(s), 128);
      init_barrier(v_bars.full(s), 128);
      init_barrier(k_bars.free(s), 2);
      init_barrier(v_bars.free(s), 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    publish();
  }
  wait_for_block();

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    W::copy(a, at, i0, from, tiles, sq, sk, sv, q_full, k_bars, v_bars);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int thread = static_cast<int>(thread_of_block()) % 128, warp = thread / 32,
            lane = thread % 32, g = lane / 4, t = lane % 4, row0 = (group - 1) * 64 + warp * 16;
  const auto my_turn = [&]() QKV_INLINE {
    if (group == 1)
      asm volatile("bar.sync 1, 256;" ::: "memory");
    else
      asm volatile("bar.sync 2, 256;" ::: "memory");
  };
  const auto your_turn = [&]() QKV_INLINE {
    if (group == 1)
      asm volatile("bar.arrive 2, 256;" ::: "memory");
    else
      asm volatile("bar.arrive 1, 256;" ::: "memory");
  };

  float o[W::columns / 2] = {}, s[BN / 2], most[2] = {-infinity(), -infinity()}, sum[2] = {};
  unsigned p[BN / 4];
  constexpr float factor = exponent_factor<Spec>;

  const auto scores = [&](int stage) QKV_INLINE {  // s = Q K'
    const unsigned q = sq + (group - 1) * 64 * 128, k = sk + stage * W::k_tile::bytes;
#pragma unroll
    for (int kk = 0; kk < W::steps; ++kk)
      product_of_tiles<T>(s, descriptor(q + kk / 4 * BM * 128 + kk % 4 * 32, 0),
                          descriptor(k + kk / 4 * BN * 128 + kk % 4 * 32, 0), kk > 0);
    commit_products();
  };
  const auto values = [&](int stage) QKV_INLINE {  // o += P V
    const unsigned v = sv + stage * W::v_tile::bytes;
#pragma unroll
    for (int kk = 0; kk < BN / 16; ++kk)
      add_product<T>(o, p + 4 * kk, descriptor(v + kk * 16 * 128, BN * 128));
    commit_products();
  };
  const auto softmax = [&](int n, float(&scale)[2]) QKV_INLINE {
    const int j0 = underived((from + n) * BN);
    const auto elements = [&](auto masked) QKV_INLINE {
#pragma unroll
      for (int e = 0; e < BN / 2; ++e) {
        const int i = i0 + row0 + g + e / 2 % 2 * 8, j = j0 + e / 4 * 8 + t * 2 + e % 2;
        s[e] = score_of<Spec>(a, at, i, j, s[e]);
        if constexpr (masked.value) s[e] = is_visible<Spec>(a, at, i, j) ? s[e] : -infinity();
      }
    };
    if (is_whole<Spec>(a, at, i0 + row0, i0 + row0 + 16, j0, j0 + BN))
      elements(constant<false>{});
    else
      elements(constant<true>{});
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float now = most[h];
#pragma unroll
      for (int e = 0; e < BN / 2; e += 4) now = larger(now, larger(s[e + 2 * h], s[e + 2 * h + 1]));
      now = largest_of_four(now);
      // Nothing seen yet: the weights are 0 then, not NaN.
      const float base = now == -infinity() ? 0.f : now * factor;
      scale[h] = power_of_two(fused(most[h], factor, -base));
      most[h] = now;
      float total = 0;
#pragma unroll
      for (int e = 0; e < BN / 2; e += 4) {
        total += s[e + 2 * h] = power_of_two(fused(s[e + 2 * h], factor, -base));
        total += s[e + 2 * h + 1] = power_of_two(fused(s[e + 2 * h + 1], factor, -base));
      }
      sum[h] = sum[h] * scale[h] + total;
    }
  };
  const auto to_weights = [&]() QKV_INLINE {
#pragma unroll
    for (int e = 0; e < BN / 4; ++e) p[e] = rounded_pair<T>(s[2 * e], s[2 * e + 1]);
  };

  if (group == 2) your_turn();  // group 1 begins
  if (tiles > 0) {
    wait_for(q_full, 0);
    wait_for(k_bars.full(0), 0);
    publish();
    my_turn();
    begin_products();
    scores(0);
    your_turn();
    wait_for_products<0>();
    pin(s);
    if (thread == 0) arrive(k_bars.free(0));
    float scale[2];
    softmax(0, scale);
    to_weights();
    turn before, now;
    for (int n = 1; n < tiles; ++n) {
      now.next();
      wait_for(k_bars.full(now.stage), now.round & 1);
      publish();
      my_turn();
      begin_products();
      scores(now.stage);
      wait_for(v_bars.full(before.stage), before.round & 1);
      publish();
      values(before.stage);
      your_turn();
      wait_for_products<1>();
      pin(s);
      if (thread == 0) arrive(k_bars.free(now.stage));
      softmax(n, scale);
      wait_for_products<0>();
      pin(o);
      if (thread == 0) arrive(v_bars.free(before.stage));
#pragma unroll
      for (int e = 0; e < W::columns / 2; ++e) o[e] *= scale[e / 2 % 2];
      to_weights();
      before = now;
    }
    wait_for(v_bars.full(before.stage), before.round & 1);
    publish();
    begin_products();
    values(before.stage);
    wait_for_products<0>();
    pin(o);
  }
  if (group == 1) my_turn();  // takes the last turn that group 2 gave away

  const result_rows<Spec> result(a, at);
  bool undefined = false;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float total = sum_of_four(sum[h]), inverse = total == 0 ? 0.f : 1 / total;
    const int i = i0 + row0 + g + h * 8;
    if (i >= rows) continue;
#pragma unroll
    for (int x = 0; x < W::columns / 8; ++x) {
      const float low = o[4 * x + 2 * h] * inverse, high = o[4 * x + 2 * h + 1] * inverse;
      undefined = undefined | is_undefined(low) | is_undefined(high);
      result.store(i, x * 8 + t * 2, low, high);
    }
    if constexpr (Spec::has_lse)
      if (t == 0) store_lse<Spec>(a, at, i, most[h] * factor, total);
  }
  if constexpr (Spec::is_masked) compute_again<Spec>(undefined, a, at, i0 + row0, 16, lane);
}
