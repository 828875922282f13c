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

class scheduler {
 public:
  scheduler(attention_funcs &f, const machine &m, const std::vector<bool> &is_output)
      : f_(f),
        is_output_(is_output),
        rows_(f.tile.rows),
        vl_(m.cpu.lanes(f.pairs.scores.type().bits())),
        row_vectors_(divisor_up_to(rows_ / vl_, m.cpu.score_registers)),
        keys_unrolled_(std::min(m.cpu.score_keys, m.cpu.sum_registers / row_vectors_)),
        columns_(constant(f.running.columns)),
        column_lanes_(columns_ ? lanes_dividing(*columns_, vl_) : vl_),
        column_vectors_(columns_ ? divisor_up_to(*columns_ / column_lanes_, m.cpu.result_registers)
                                 : 1),
        rows_unrolled_(divisor_up_to(rows_, m.cpu.sum_registers / column_vectors_)),
        tile_(f.running.state, f.v.T) {}

  void run() {
    tasks();
    state();
    values();
    result();
    weights();
    scores();
    pair_tiles();
    row_tiles();
  }

 private:
  void tasks() {
    Func &out = f_.result.out;
    if (!is_output_[0] || !f_.result.copies.empty()) out.compute_root();
    std::vector<Var> around = f_.result.outer;
    const Var column = f_.result.copies.empty() ? f_.result.column : f_.v.c, it("it"), ir("ir");
    std::vector<Halide::VarOrRVar> order;
    if (f_.result.has_column || !f_.result.copies.empty()) order.emplace_back(column);
    if (f_.result.has_row) {
      out.split(f_.result.row, it, ir, rows_ * f_.tile.per_task, TailStrategy::GuardWithIf);
      order.emplace_back(ir);
      around.insert(around.begin(), it);
    }
    if (!around.empty()) {
      for (const Var &v : around) order.emplace_back(v);
      out.reorder(order);
    }
    at_ = parallel_tasks(out, around);
    if (f_.result.has_column && f_.result.copies.empty() && columns_)
      out.vectorize(column, column_lanes_);
    for (std::size_t k = 0; k < f_.result.copies.size(); ++k)
      if (!is_output_[k]) f_.result.copies[k].compute_root();
  }

  void state() {
    f_.running.state.compute_at(at_)
        .bound(f_.v.x, 0, f_.running.width)
        .bound(f_.v.y, 0, rows_ + f_.running.rows)
        .vectorize(f_.v.x, vl_);
    const RVar rx = f_.running.steps.x, ry = f_.running.steps.y, rb = f_.running.steps.z;
    auto merge = f_.running.state.update();
    std::vector<Halide::VarOrRVar> order = {rx, ry, f_.v.T, rb};
    for (const Var &v : f_.v.outer) order.emplace_back(v);
    merge.allow_race_conditions()
        .partition(ry, Partition::Always)
        .partition(f_.v.T, Partition::Never)
        .partition(rb, Partition::Never);
    merge.reorder(order).vectorize(rx, vl_);
    if (constant(f_.running.width)) merge.unroll(rx);
  }

  void values() {
    const LoopLevel block(f_.running.state, f_.running.steps.z);
    if (f_.product.is_padded)
      f_.product.values.compute_at(block).vectorize(f_.v.c, vl_, TailStrategy::RoundUp);
    if (f_.tile.value_row > 0)
      f_.product.values.compute_at(block)
          .bound_extent(f_.v.c, f_.running.columns)
          .align_storage(f_.v.c, f_.tile.value_row)
          .vectorize(f_.v.c, column_lanes_)
          .unroll(f_.v.c);
  }

  // o = p V: columns in lanes, p broadcast
  void result() {
    const int cl = column_lanes_;
    Var io("io"), ii("ii"), co("co"), ci("ci");
    f_.product.block_out.compute_at(tile_).bound_extent(f_.v.i, rows_);
    if (columns_) f_.product.block_out.bound_extent(f_.v.c, f_.running.columns);
    f_.product.block_out
        .split(f_.v.c, co, ci, column_vectors_ * cl,
               columns_ ? TailStrategy::RoundUp : TailStrategy::Auto)
        .split(f_.v.i, io, ii, rows_unrolled_, TailStrategy::RoundUp)
        .reorder(ci, ii, io, co)
        .vectorize(ci, cl)
        .unroll(ci)
        .unroll(ii);
    Func &product = f_.product.sum;
    product.compute_at(f_.product.block_out, io)
        .vectorize(f_.v.c, cl)
        .unroll(f_.v.c)
        .unroll(f_.v.i);
    const auto sum = [&](int update, const RVar &keys) {
      product.update(update)
          .reorder(f_.v.c, f_.v.i, keys)
          .vectorize(f_.v.c, cl)
          .unroll(f_.v.c)
          .unroll(f_.v.i);
    };
    sum(0, f_.product.keys_clean.x);
    if (!f_.product.suspect.defined()) return;
    sum(1, f_.product.keys_suspect.x);
    f_.product.suspect.compute_at(f_.running.state, f_.running.steps.z);
    f_.product.suspect_columns.compute_at(f_.running.state, f_.running.steps.z)
        .vectorize(f_.v.c, cl)
        .update()
        .vectorize(f_.v.c, cl);
  }

  // l, p, m: rows in lanes
  void weights() {
    f_.pairs.block_sum.compute_at(tile_).bound_extent(f_.v.i, rows_).vectorize(f_.v.i, vl_);
    f_.pairs.block_sum.update()
        .reorder(f_.v.i, f_.pairs.keys.x)
        .vectorize(f_.v.i, vl_)
        .unroll(f_.v.i);
    if (f_.running.has_maximum) {
      over_keys(f_.pairs.weights, 4);
      f_.pairs.block_max.compute_at(tile_).bound_extent(f_.v.i, rows_).vectorize(f_.v.i, vl_);
      f_.pairs.block_max.update()
          .reorder(f_.v.i, f_.pairs.keys.x)
          .vectorize(f_.v.i, vl_)
          .unroll(f_.v.i);
    }
    if (f_.pairs.has_gate()) over_keys(f_.pairs.gated, 4);
  }

  // rows in lanes, keys broadcast
  void scores() {
    over_keys(f_.pairs.scores, keys_unrolled_);
    for (std::size_t k = 0; k < f_.pairs.products.size(); ++k) {
      Func &s = f_.pairs.products[k];
      // the whole tile, also where the mask needs only a part: a register tile has no tails
      s.compute_at(f_.pairs.scores, jo_)
          .bound_extent(f_.v.i, row_vectors_ * vl_)
          .bound_extent(f_.v.j, keys_unrolled_)
          .vectorize(f_.v.i, vl_)
          .unroll(f_.v.i)
          .unroll(f_.v.j);
      std::vector<Halide::VarOrRVar> inner = {f_.v.i, f_.v.j};
      for (const RVar &v : f_.pairs.features[k]) inner.emplace_back(v);
      s.update().reorder(inner).vectorize(f_.v.i, vl_).unroll(f_.v.i).unroll(f_.v.j);
    }
  }

  void over_keys(Func &g, int unrolled) {
    Var io("io"), ii("ii"), ji("ji");
    g.compute_at(tile_)
        .bound_extent(f_.v.i, rows_)
        .bound_storage(f_.v.j, stored_keys())
        .split(f_.v.j, jo_, ji, unrolled, TailStrategy::RoundUp)
        .split(f_.v.i, io, ii, row_vectors_ * vl_)
        .reorder(ii, ji, jo_, io)
        .vectorize(ii, vl_)
        .unroll(ii)
        .unroll(ji);
  }

  int stored_keys() const {
    return ((f_.tile.keys + keys_unrolled_ - 1) / keys_unrolled_ * keys_unrolled_ + 3) / 4 * 4;
  }

  void pair_tiles() {
    Var io("io"), ii("ii"), ji("ji");
    for (Func &g : f_.reads.pair_tiles)
      g.compute_at(tile_)
          .bound_extent(f_.v.i, rows_)
          .bound_storage(f_.v.j, stored_keys() + 16)
          .split(f_.v.j, jo_, ji, 16, TailStrategy::RoundUp)
          .split(f_.v.i, io, ii, 8)
          .reorder(ii, ji, jo_, io)
          .unroll(ii)
          .vectorize(ji);
  }

  void row_tiles() {
    Var io("io"), ii("ii"), ji("ji");
    for (Func &q : f_.reads.row_tiles) {
      q.compute_at(at_).bound_extent(f_.v.i, rows_);
      if (q.args().size() == 2 + f_.v.outer.size()) {
        q.vectorize(f_.v.i, vl_);
        continue;
      }
      // contiguous loads along the first feature, stores apart: half the cost of gathers
      q.split(q.args()[1], jo_, ji, 16, TailStrategy::GuardWithIf).split(f_.v.i, io, ii, 4);
      q.reorder(ii, ji, jo_, io).unroll(ii).vectorize(ji);
    }
  }

  attention_funcs &f_;
  const std::vector<bool> &is_output_;
  const int rows_, vl_;
  const int row_vectors_, keys_unrolled_;  // of a register tile of scores
  const std::optional<int> columns_;
  const int column_lanes_, column_vectors_, rows_unrolled_;  // of a register tile of the result
  const Var jo_{"jo"};
  const LoopLevel tile_;
  LoopLevel at_;  // the task
};

}  // namespace

void schedule_attention_cpu(attention_funcs &f, const machine &m,
                            const std::vector<bool> &is_output) {
  scheduler(f, m, is_output).run();
}

}  // namespace qkv::codegen
