// Attention on CPUs: keys outside, tiles of rows inside, so that a block of K and V is used from cache by every tile.
//   for each task (per_task tiles of rows, one head)              parallel
//     for each block of keys
//       for each tile: scores (rows in lanes), max, weights, sums; o (columns in lanes); merge into the state
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::LoopLevel;
using Halide::Partition;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

std::optional<int> constant(const Expr &e) {
  if (auto c = Halide::Internal::as_const_int(Halide::Internal::simplify(e)))
    return static_cast<int>(*c);
  return std::nullopt;
}

// The widest vector that divides n.
int lanes_dividing(int n, int most) {
  int lanes = most;
  while (n % lanes) lanes /= 2;
  return lanes;
}

int divisor_up_to(int n, int most) {
  int d = most;
  while (n % d) --d;
  return d;
}

}  // namespace

void schedule_attention_cpu(attention_funcs &f, const machine &m,
                            const std::vector<bool> &is_output) {
  const int rows = f.tile.rows, vl = m.lanes(f.scores.type().bits());
  const int row_vectors = divisor_up_to(rows / vl, m.score_registers);
  const int keys_unrolled = std::min(m.score_keys, m.sum_registers / row_vectors);
  const std::optional<int> columns = constant(f.columns), width = constant(f.width);
  const int cl = columns ? lanes_dividing(*columns, vl) : vl;
  const int column_vectors = columns ? divisor_up_to(*columns / cl, m.result_registers) : 1;
  const int rows_unrolled = divisor_up_to(rows, m.sum_registers / column_vectors);

  Var io("io"), ii("ii"), jo("jo"), ji("ji"), co("co"), ci("ci"), it("it"), ir("ir");
  Func &out = f.out;
  if (!is_output[0] || !f.copies.empty()) out.compute_root();

  // tasks
  std::vector<Var> around = f.out_outer;
  const Var column = f.copies.empty() ? f.out_column : f.c;
  if (f.has_row) {
    out.split(f.out_row, it, ir, rows * f.tile.per_task, TailStrategy::GuardWithIf);
    std::vector<Halide::VarOrRVar> order;
    if (f.has_column || !f.copies.empty()) order.emplace_back(column);
    order.emplace_back(ir);
    order.emplace_back(it);
    for (const Var &v : around) order.emplace_back(v);
    out.reorder(order);
    around.insert(around.begin(), it);
  } else if (!around.empty()) {
    std::vector<Halide::VarOrRVar> order;
    if (f.has_column || !f.copies.empty()) order.emplace_back(column);
    for (const Var &v : around) order.emplace_back(v);
    out.reorder(order);
  }
  const LoopLevel at = parallel_tasks(out, around);
  if (f.has_column && f.copies.empty() && columns) out.vectorize(column, cl);
  for (std::size_t k = 0; k < f.copies.size(); ++k)
    if (!is_output[k]) f.copies[k].compute_root();

  // state
  f.state.compute_at(at)
      .bound(f.x, 0, f.width)
      .bound(f.y, 0, rows + f.state_rows)
      .vectorize(f.x, vl);
  const RVar rx = f.steps.x, ry = f.steps.y, rb = f.steps.z;
  auto merge = f.state.update();
  std::vector<Halide::VarOrRVar> order = {rx, ry, f.T, rb};
  for (const Var &v : f.outer) order.emplace_back(v);
  merge.allow_race_conditions()
      .partition(ry, Partition::Always)
      .partition(f.T, Partition::Never)
      .partition(rb, Partition::Never);
  merge.reorder(order).vectorize(rx, vl);
  if (width) merge.unroll(rx);
  const LoopLevel tile(f.state, f.T);
  if (f.padded_values) f.values.compute_at(f.state, rb).vectorize(f.c, vl, TailStrategy::RoundUp);
  if (f.tile.value_row > 0)
    f.values.compute_at(f.state, rb)
        .bound_extent(f.c, f.columns)
        .align_storage(f.c, f.tile.value_row)
        .vectorize(f.c, cl)
        .unroll(f.c);

  // o = p V: columns in lanes, p broadcast
  f.block_out.compute_at(tile).bound_extent(f.i, rows);
  if (columns) f.block_out.bound_extent(f.c, f.columns);
  f.block_out
      .split(f.c, co, ci, column_vectors * cl, columns ? TailStrategy::RoundUp : TailStrategy::Auto)
      .split(f.i, io, ii, rows_unrolled, TailStrategy::RoundUp)
      .reorder(ci, ii, io, co)
      .vectorize(ci, cl)
      .unroll(ci)
      .unroll(ii);
  f.product_v.compute_at(f.block_out, io).vectorize(f.c, cl).unroll(f.c).unroll(f.i);
  f.product_v.update().reorder(f.c, f.i, f.keys_clean.x).vectorize(f.c, cl).unroll(f.c).unroll(f.i);
  if (f.suspect.defined()) {
    f.product_v.update(1)
        .reorder(f.c, f.i, f.keys_suspect.x)
        .vectorize(f.c, cl)
        .unroll(f.c)
        .unroll(f.i);
    f.suspect.compute_at(f.state, rb);
    f.suspect_columns.compute_at(f.state, rb).vectorize(f.c, cl).update().vectorize(f.c, cl);
  }

  // l, p, m: rows in lanes
  f.block_sum.compute_at(tile).bound_extent(f.i, rows).vectorize(f.i, vl);
  f.block_sum.update().reorder(f.i, f.keys.x).vectorize(f.i, vl).unroll(f.i);
  const int storage =
      ((f.tile.keys + keys_unrolled - 1) / keys_unrolled * keys_unrolled + 3) / 4 * 4;
  const auto over_keys = [&](Func &g, int unrolled) {
    g.compute_at(tile)
        .bound_extent(f.i, rows)
        .bound_storage(f.j, storage)
        .split(f.j, jo, ji, unrolled, TailStrategy::RoundUp)
        .split(f.i, io, ii, row_vectors * vl)
        .reorder(ii, ji, jo, io)
        .vectorize(ii, vl)
        .unroll(ii)
        .unroll(ji);
  };
  if (f.running_max) {
    over_keys(f.weights, 4);
    f.block_max.compute_at(tile).bound_extent(f.i, rows).vectorize(f.i, vl);
    f.block_max.update().reorder(f.i, f.keys.x).vectorize(f.i, vl).unroll(f.i);
  }

  if (f.has_gate()) over_keys(f.gated, 4);

  // scores: rows in lanes, keys broadcast
  over_keys(f.scores, keys_unrolled);
  for (std::size_t k = 0; k < f.products.size(); ++k) {
    Func &s = f.products[k];
    // the whole tile, also where the mask needs only a part: a register tile has no tails
    s.compute_at(f.scores, jo)
        .bound_extent(f.i, row_vectors * vl)
        .bound_extent(f.j, keys_unrolled)
        .vectorize(f.i, vl)
        .unroll(f.i)
        .unroll(f.j);
    std::vector<Halide::VarOrRVar> inner = {f.i, f.j};
    for (const RVar &v : f.features[k]) inner.emplace_back(v);
    s.update().reorder(inner).vectorize(f.i, vl).unroll(f.i).unroll(f.j);
  }
  for (Func &g : f.pair_tiles)
    g.compute_at(tile)
        .bound_extent(f.i, rows)
        .bound_storage(f.j, storage + 16)
        .split(f.j, jo, ji, 16, TailStrategy::RoundUp)
        .split(f.i, io, ii, 8)
        .reorder(ii, ji, jo, io)
        .unroll(ii)
        .vectorize(ji);
  for (Func &q : f.row_tiles) {
    q.compute_at(at).bound_extent(f.i, rows);
    if (q.args().size() == 2 + f.outer.size()) {
      q.vectorize(f.i, vl);
      continue;
    }
    // contiguous loads along the first feature, stores apart: half the cost of gathers
    q.split(q.args()[1], jo, ji, 16, TailStrategy::GuardWithIf).split(f.i, io, ii, 4);
    q.reorder(ii, ji, jo, io).unroll(ii).vectorize(ji);
  }
}

}  // namespace qkv::codegen
