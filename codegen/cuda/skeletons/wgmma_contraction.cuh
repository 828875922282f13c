// SPDX-License-Identifier: BSL-1.0
#include "contraction.cuh"
#include "warpgroup.cuh"
// Contractions of 16 bits on Hopper (compute capability 9.0), by wgmma.
//   warpgroup 0 copies stages of both operands as they become free
//   warpgroups 1 and 2: 64 rows each; while the products of a stage run, those of the next begin
// Tensor cores round sums towards zero: results are of 16 bits, too.

template <class Spec>
QKV_DEVICE void wgmma_contraction(const typename Spec::arguments &a) {
  using C = contraction_operands<Spec>;
  using T = typename Spec::element;
  constexpr int BM = C::BM, BN = C::BN, DEPTH = C::DEPTH, copying = 128;
  static_assert(BM == 128 && (BN == 128 || BN == 256) && DEPTH == 64 && !Spec::is_precise);
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned first = shared_address(memory);
  const stages<Spec::STAGES> bars{first + Spec::STAGES * C::stage_bytes};
  const contraction_block<Spec> block(a);
  if (!block.exists) return;
  const int group = static_cast<int>(thread_of_block()) / 128,
            thread = static_cast<int>(thread_of_block()) % 128;
  if (thread_of_block() == 0) {
    bars.init(2 * copying, 2);
    publish_barriers();
    publish();
  }
  wait_for_block();

  if (group == 0) {
    give_registers<88>();
    stage_copies<Spec, copying> copies(a, block, thread);
    turn<Spec::STAGES> now;
    for (int step = 0; step < copies.n; ++step, now.next()) {
      wait_for(bars.free(now.stage), (now.round & 1) ^ 1);
      copies.load(first + now.stage * C::stage_bytes);
      arrive(bars.full(now.stage));  // numbers one by one are there; copies may be under way
      arrive_after_copies(bars.full(now.stage));
    }
    wait_for_all_copies();  // none may be under way when the thread ends
    return;
  }
  take_registers<208>();
  float sums[BN / 2] = {};
  const int n = stage_copies<Spec, copying>::n_stages(a);
  turn<Spec::STAGES> before, now;
#pragma unroll 1
  for (int step = 0; step < n; ++step) {
    wait_for(bars.full(now.stage), now.round & 1);
    publish();
    const unsigned at = first + now.stage * C::stage_bytes;
    const shared_operand left(at + (group - 1) * (Spec::left_by_depth ? 64 : DEPTH) * 128),
        right(at + C::left_tile::bytes, Spec::right_by_depth ? 0 : DEPTH * 128);
    begin_products();
#pragma unroll
    for (int k = 0; k < DEPTH / 16; ++k)
      product_of_tiles<T, !Spec::left_by_depth, !Spec::right_by_depth>(
          sums, left.further(k * (Spec::left_by_depth ? 32 : 16 * 128)),
          right.further(k * (Spec::right_by_depth ? 32 : 16 * 128)), 1);
    commit_products();
    wait_for_products<1>();  // of the stage before
    if (step > 0 && thread == 0) arrive(bars.free(before.stage));
    before = now;
    now.next();
  }
  wait_for_products<0>();
  pin(sums);

  const result_cells<Spec> result(a, block);
  const int lane = thread % 32, row0 = block.i0 + (group - 1) * 64 + thread / 32 * 16 + lane / 4;
  const auto store = [&](auto whole) QKV_INLINE {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = row0 + h * 8;
      if (i >= block.rows.n) continue;
#pragma unroll
      for (int x = 0; x < BN / 8; ++x)
        result.template store<whole.value>(i, block.j0 + x * 8 + lane % 4 * 2, sums[4 * x + 2 * h],
                                           sums[4 * x + 2 * h + 1]);
    }
  };
  if (result.whole)
    store(constant<true>{});
  else
    store(constant<false>{});
}
