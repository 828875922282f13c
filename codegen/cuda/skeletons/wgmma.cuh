// SPDX-License-Identifier: BSL-1.0
#include "attention.cuh"
#include "warpgroup.cuh"
// Attention on Hopper (compute capability 9.0): products by wgmma; the scheme of FlashAttention-3
// (Shah et al. 2024).
//   warpgroup 0 copies tiles of keys and values into three stages each, as they become free
//   warpgroups 1 and 2: 64 queries each; the products of the next tile run under the softmax of
//   this one, and the two groups take turns at the tensor cores
// Weights are sums of one or two numbers of 16 bits, as many as the results need.
// `spec` gives sizes, addresses, score, mask, and the keys that rows see. BM and BN are 128, D and
// DV at most that.

constexpr int n_stages = 3;  // of keys, and of values

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
  // The running maximum is raised only when a score exceeds it by more than this, in base 2.
  // Otherwise the sums need no rescaling, which pays off for many columns; weights of 16 bits have
  // room for it (FlashAttention-4). Sums of bf16 overflow 2^headroom times sooner.
  static constexpr int headroom = columns > 64 ? 8 : 0;
  // Scores by formulas need more registers where they are computed.
  static constexpr int copying_registers = Spec::scale == 0 ? 24 : 40;

  // The first warpgroup. Each thread arrives at a barrier once its copies are there.
  static QKV_DEVICE void copy(A a, P at, int i0, int from, int tiles, unsigned sq, unsigned sk,
                              unsigned sv, unsigned q_full, stages<n_stages> k_bars,
                              stages<n_stages> v_bars) {
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
    turn<n_stages> now;
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
  const stages<n_stages> k_bars{q_full + 8}, v_bars{k_bars.first + k_bars.bytes};
  const int rows = Spec::n_rows(a), keys = Spec::n_keys(a);
  const block<Spec> own(a);
  const auto &at = own.at;
  const int i0 = own.i0, from = own.from, tiles = largest(own.to - from, 0);
  const int group = static_cast<int>(thread_of_block()) / 128;

  if (thread_of_block() == 0) {
    init_barrier(q_full, 128);
    k_bars.init(128, 2);
    v_bars.init(128, 2);
    publish_barriers();
    publish();
  }
  wait_for_block();

  if (group == 0) {
    give_registers<W::copying_registers>();
    W::copy(a, at, i0, from, tiles, sq, sk, sv, q_full, k_bars, v_bars);
    return;
  }
  take_registers<(504 - W::copying_registers) / 2>();
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
  unsigned p[BN / 4], rest[Spec::weight_parts > 1 ? BN / 4 : 1];
  constexpr float factor = exponent_factor<Spec>;

  const auto scores = [&](int stage) QKV_INLINE {  // s = Q K'
    const shared_operand q(sq + (group - 1) * 64 * 128), k(sk + stage * W::k_tile::bytes);
#pragma unroll
    for (int kk = 0; kk < W::steps; ++kk)
      product_of_tiles<T>(s, q.further(kk / 4 * BM * 128 + kk % 4 * 32),
                          k.further(kk / 4 * BN * 128 + kk % 4 * 32), kk > 0);
    commit_products();
  };
  const auto values = [&](int stage) QKV_INLINE {  // o += P V
    const shared_operand v(sv + stage * W::v_tile::bytes, BN * 128);
#pragma unroll
    for (int kk = 0; kk < BN / 16; ++kk) {
      add_product<T>(o, p + 4 * kk, v.further(kk * 16 * 128));
      if constexpr (Spec::weight_parts > 1)
        add_product<T>(o, rest + 4 * kk, v.further(kk * 16 * 128));
    }
    commit_products();
  };
  bool grown = false;  // a maximum, by the last tile
  const auto softmax = [&](int n, float(&scale)[2]) QKV_INLINE {
    grown = false;
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
    // Row after row: exponentials of one run beside the maximum of the other.
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float now = most[h];
#pragma unroll
      for (int e = 0; e < BN / 2; e += 4) now = larger(now, larger(s[e + 2 * h], s[e + 2 * h + 1]));
      now = largest_of_four(now);
      if constexpr (W::headroom > 0) now = (now - most[h]) * factor > W::headroom ? now : most[h];
      grown = grown || now != most[h];
      const float base = finite(now) * factor;
      scale[h] = now == most[h] ? 1.f : power_of_two(fused(most[h], factor, -base));
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
    for (int e = 0; e < BN / 4; ++e) {
      float low = s[2 * e], high = s[2 * e + 1];
      p[e] = part_of_pair<T>(low, high);
      if constexpr (Spec::weight_parts > 1) rest[e] = rounded_pair<T>(low, high);
    }
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
    turn<n_stages> before, now;
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
      compute_before_waiting(sum, sq);
      wait_for_products<0>();
      pin(o);
      if (thread == 0) arrive(v_bars.free(before.stage));
      if (W::headroom == 0 || any_of_warp(grown))
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
