// SPDX-License-Identifier: BSL-1.0
// Attention on CPUs: keys outside, tiles of rows inside: every tile reads a block from cache.
//   for each task (per_task tiles of rows, one head)              parallel
//     for each block of keys
//       for each tile: scores (rows in lanes), max, weights, sums; o (columns in lanes); merge
// A call of few rows takes a specialization of the same loops. Its rows, also those of query heads
// that share keys, are one task: each key and value is read from memory once. With very few rows,
// lanes hold keys and features: a key is read whole, as contiguous memory, and for a single query
// so is a row of values.
// Where a matrix unit computes the products (attention_matrix), lanes hold keys in all tiles.
#include <algorithm>

#include "codegen/halide/schedules/attention_bf16.hpp"
#include "codegen/halide/schedules/attention_kept_sums.hpp"
#include "codegen/halide/schedules/attention_matrix.hpp"
#include "codegen/halide/schedules/attention_pair_tiles.hpp"
#include "codegen/halide/schedules/attention_rows.hpp"
#include "codegen/halide/schedules/calls.hpp"
#include "codegen/halide/schedules/expression_size.hpp"
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"
#include "codegen/plan/on_machine/register_tile.hpp"

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

// A long function of a product fills the registers by itself: its code is not repeated for each key
// of a register tile.
constexpr int most_repeated = 100;
bool is_long(const Func &g) { return nodes_of(g.value()) > most_repeated; }

void copy(Func &root, bool is_output, int lanes) {
  if (!is_output) root.compute_root();
  if (root.args().empty()) return;
  root.vectorize(root.args().front(), lanes, TailStrategy::GuardWithIf);
  if (root.args().size() > 1) root.parallel(root.args().back());
}

// One form of the stage; `out` is its definition of the result.
class scheduler {
 public:
  scheduler(attention_funcs &f, Halide::Stage out, int form, const machine &m)
      : f_(f),
        out_(std::move(out)),
        form_(form),
        keeps_sums_(f.keeps_sums()),
        m_(m),
        rows_(f.tile.rows),
        vl_(m.cpu.lanes(f.sums[0].pairs.type().bits())),
        row_vectors_(divisor_up_to(std::max(rows_ / vl_, 1), m.cpu.score_registers)),
        keys_unrolled_(std::min(f.tile.score_keys, m.cpu.sum_registers / row_vectors_)),
        tile_(f.tile.one_block ? LoopLevel()
              : keeps_sums_    ? LoopLevel(f.running.state, f.running.steps.z)
                               : LoopLevel(f.running.state, f.v.T)),
        block_(f.tile.one_block ? LoopLevel()
                                : LoopLevel(f.running.state, f.running.layout.block)) {}

  void run() {
    if (keeps_sums_) {
      at_ = schedule_kept_sums(f_, vl_);
    } else {
      tasks();
      f_.tile.one_block ? in_task() : state();
    }
    for (attention_sum &sum : f_.sums) {
      if (!sum.has_columns()) {
        over_rows(sum.block_out, sum.keys_clean);
      } else {
        values(sum);
        products(sum);
      }
      if (sum.gated) over_keys(sum.pairs, m_.cpu.weight_keys);
    }
    for (attention_sum &sum : f_.across) across(sum);
    for (attention_placed &sum : f_.placed) placed(sum);
    weights();
    readers();
    computed_keys();
    matrix_products::keys(f_, block_, vl_);
    schedule_pair_tiles(f_, m_, tile_, vl_, stored_keys());
    schedule_rows(f_, at_, vl_);
    for (Func &g : f_.reads.extremes) g.compute_at(at_);
  }

 private:
  void tasks() {
    std::vector<Var> around = f_.v.around;
    const Var column = f_.result.column_of_out(f_.v), it("it" + std::to_string(form_)), ir("ir");
    std::vector<Halide::VarOrRVar> order;
    if (f_.result.has_column || !f_.result.copies.empty()) order.emplace_back(column);
    if (f_.result.has_row) {
      const int rows = f_.tile.is_for_few_rows() ? static_cast<int>(f_.tile.called.most)
                                                 : rows_ * f_.tile.per_task;
      out_.split(f_.result.row, it, ir, rows, TailStrategy::GuardWithIf);
      order.emplace_back(ir);
      around.insert(around.begin(), it);
    }
    for (const Var &v : f_.result.outer)
      if (!has_name(f_.v.around, v)) order.emplace_back(v);
    if (!around.empty()) {
      for (const Var &v : around) order.emplace_back(v);
      out_.reorder(order);
    }
    at_ = parallel_tasks(f_.result.out, out_, around);
    if (const attention_sum &sum = f_.sums[0];
        f_.result.copies.empty() && sum.has_columns() && constant(sum.columns))
      out_.vectorize(column, sum.known_columns > 0 ? lanes_dividing(sum.known_columns, vl_)
                                                   : tile_of(sum).lanes);
  }

  // The only block of the only tile is computed there.
  void in_task() { tile_ = block_ = at_; }

  void state() {
    int values = 0;
    for (const attention_sum &sum : f_.sums) values += sum.has_columns();
    f_.running.state.compute_at(at_)
        .bound(f_.v.x, 0, f_.running.width)
        .bound(f_.v.y, 0, f_.running.statistics + values * rows_)
        .vectorize(f_.v.x, vl_);
    const RVar rx = f_.running.steps.x, ry = f_.running.steps.y, rb = f_.running.steps.z;
    auto merge = f_.running.state.update();
    std::vector<Halide::VarOrRVar> order = {rx, ry, f_.v.T, rb};
    for (const Var &v : f_.v.outer) order.emplace_back(v);
    const bool has_both = values > 0 && f_.running.statistics > 0;
    merge.allow_race_conditions()
        .partition(ry, has_both ? Partition::Always : Partition::Never)
        .partition(f_.v.T, Partition::Never)
        .partition(rb, Partition::Never);
    merge.reorder(order).vectorize(rx, vl_);
    if (constant(f_.running.width)) merge.unroll(rx);
  }

  register_tile tile_of(const attention_sum &sum) const { return tile_of(sum, rows_); }
  register_tile tile_of(const attention_sum &sum, int rows) const {
    return register_tile_of(m_.cpu, constant(sum.columns), rows, vl_);
  }

  // Values that are not in memory as a product reads them, of 16 bits say, are copied once a block.
  // Rows that are a multiple of so many columns apart share few sets of the first cache.
  void values(attention_sum &sum) {
    if (sum.halves.defined()) {
      if (!f_.tile.keys_in_lanes() || f_.tile.in_matrix_tiles)
        bf16_products::values(sum, f_.v, block_, *constant(sum.columns), vl_);
      return;
    }
    if (sum.is_padded) {
      sum.values.compute_at(block_).vectorize(f_.v.c, vl_, TailStrategy::RoundUp);
      return;
    }
    if (sum.known_columns > 0 && !f_.tile.keys_in_lanes()) {
      filled(sum, block_);
      return;
    }
    if (f_.tile.keys_in_lanes() || (f_.tile.is_for_few_rows() && !sum.is_copied)) return;
    const int columns = constant(sum.columns).value_or(0), apart = m_.cpu.values.columns;
    const bool is_apart = apart != 0 && columns % apart == 0;
    const int lanes = tile_of(sum).lanes;
    const bool is_short = columns <= most_value_vectors * lanes;
    if (columns == 0 || !(is_apart || (sum.is_copied && is_short))) return;
    if (is_apart) sum.values.align_storage(f_.v.c, columns + m_.cpu.values.padding);
    sum.values.compute_at(block_)
        .bound_extent(f_.v.c, sum.columns)
        .vectorize(f_.v.c, lanes)
        .unroll(f_.v.c);
  }

  // Vectors that divide the columns, or whole ones, whose last is a masked load or gathered.
  void filled(attention_sum &sum, const LoopLevel &level) {
    const int narrow = lanes_dividing(sum.known_columns, vl_), columns = *constant(sum.columns);
    if (m_.cpu.values.columns != 0 && columns % m_.cpu.values.columns == 0)
      sum.values.align_storage(f_.v.c, columns + m_.cpu.values.padding);
    sum.values.compute_at(level)
        .bound_extent(f_.v.c, columns)
        .vectorize(f_.v.c, columns <= most_value_vectors * narrow ? narrow : vl_)
        .unroll(f_.v.c);
  }

  // o = p V: columns in lanes, p broadcast
  void products(attention_sum &sum) { products(sum, f_.v.i, rows_, block_); }
  // For so many i; `level`: where values are looked at.
  void products(attention_sum &sum, const Var &i, int n, const LoopLevel &level) {
    if (f_.tile.in_matrix_tiles) {
      matrix_products::sum(sum, f_, tile_, *constant(sum.columns), vl_);
      if (sum.suspect.blocks.defined()) suspect_sum(sum, vl_, level);
      return;
    }
    const register_tile t = tile_of(sum, n);
    Var io("io"), ii("ii"), co("co"), ci("ci");
    sum.block_out.compute_at(tile_);
    if (f_.running.sums_own_rows)
      sum.block_out.bound_storage(i, n);
    else
      sum.block_out.bound_extent(i, n);
    if (t.columns) sum.block_out.bound_extent(f_.v.c, sum.columns);
    sum.block_out
        .split(f_.v.c, co, ci, t.vectors * t.lanes,
               t.columns ? TailStrategy::RoundUp : TailStrategy::Auto)
        .split(i, io, ii, t.rows, TailStrategy::RoundUp)
        .reorder(ci, ii, io, co)
        .vectorize(ci, t.lanes)
        .unroll(ci)
        .unroll(ii);
    Func &product = sum.product;
    product.compute_at(sum.block_out, io).vectorize(f_.v.c, t.lanes).unroll(f_.v.c).unroll(i);
    const auto add = [&](int update, const RVar &terms) {
      product.update(update)
          .reorder(f_.v.c, i, terms)
          .vectorize(f_.v.c, t.lanes)
          .unroll(f_.v.c)
          .unroll(i);
    };
    if (sum.halves.defined())
      bf16_products::sum(sum, f_, tile_, t, vl_);
    else
      add(0, sum.keys_clean.x);
    if (!sum.suspect.blocks.defined()) return;
    add(1, sum.suspect.keys.x);
    suspects(sum, t.lanes, level);
  }

  // Not in registers: blocks of values that hold anything but finite numbers are rare.
  void suspect_sum(attention_sum &sum, int lanes, const LoopLevel &level) {
    sum.product.update(1).reorder(f_.v.c, f_.v.i, sum.suspect.keys.x).vectorize(f_.v.c, lanes);
    suspects(sum, lanes, level);
  }

  // Over the rows of a tile, for each key of a block. All tiles of a task read their values in
  // turn, for each block.
  void across(attention_sum &sum) {
    if (!sum.has_columns()) {
      sum.block_out.compute_at(tile_).bound_extent(f_.v.c, sum.partials).vectorize(f_.v.c, vl_);
      sum.block_out.update()
          .reorder(f_.v.c, sum.rows_of_partial.x)
          .vectorize(f_.v.c, vl_)
          .unroll(sum.rows_of_partial.x);
      return;
    }
    if (sum.known_columns > 0)
      filled(sum, at_);
    else if (sum.is_padded || sum.is_copied)
      sum.values.compute_at(at_).vectorize(
          f_.v.c, vl_, sum.is_padded ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
    products(sum, f_.v.j, f_.tile.keys, at_);
  }

  // Rows in lanes: 16 of them for each key.
  void placed(attention_placed &sum) {
    over_keys(sum.positions, m_.cpu.weight_keys);
    for (Func *g : {&sum.breaks, &sum.changes, &sum.totals}) {
      g->compute_at(tile_);
      g->update().reorder(sum.lanes.x, sum.vector, f_.v.j).atomic().vectorize(sum.lanes.x);
    }
    sum.of_tile.compute_at(tile_).vectorize(f_.v.c, vl_);
    sum.of_tile.update(0).allow_race_conditions().vectorize(sum.neighbours.x);
  }

  void suspects(attention_sum &sum, int lanes, const LoopLevel &level) {
    sum.suspect.blocks.compute_at(level);
    sum.suspect.columns.compute_at(level).vectorize(f_.v.c, lanes);
    Halide::Stage look = sum.suspect.columns.update();
    if (f_.tile.keys_in_lanes())  // the first to read the values does so as contiguous memory
      look.reorder(f_.v.c, RVar(sum.suspect.columns.rvars()[0]));
    look.vectorize(f_.v.c, lanes);
  }

  // Sums over the keys of a block: rows in lanes
  void over_rows(Func &g, const Halide::RDom &keys) {
    if (f_.tile.keys_in_lanes()) {
      g.compute_at(tile_).bound_storage(f_.v.i, rows_);
      return;
    }
    g.compute_at(tile_).bound_extent(f_.v.i, rows_).vectorize(f_.v.i, vl_);
    g.update().reorder(f_.v.i, keys.x).vectorize(f_.v.i, vl_).unroll(f_.v.i);
  }

  // A sum or maximum over vectors of keys, then over their lanes.
  void over_lanes(lane_fold &fold) {
    const auto place = [&](Func &g) -> Func & {
      return g.compute_at(fold.whole, f_.v.i).vectorize(f_.v.lane);
    };
    fold.whole.compute_at(tile_).bound_storage(f_.v.i, rows_);
    for (Func &half : fold.halves) place(half);
    place(fold.of_lane).bound_extent(f_.v.lane, f_.tile.key_lanes);
    fold.of_lane.update().reorder(f_.v.lane, f_.pairs.keys.x).vectorize(f_.v.lane);
  }

  // l, p, m: rows in lanes, or keys
  void weights() {
    const auto over_block = [&](Func &g, lane_fold &fold) {
      f_.tile.keys_in_lanes() ? over_lanes(fold) : over_rows(g, f_.pairs.keys);
    };
    if (f_.pairs.block_sum.defined()) over_block(f_.pairs.block_sum, f_.pairs.lanes_of_sum);
    if (!f_.running.has_maximum) return;
    over_keys(f_.pairs.weights, m_.cpu.weight_keys);
    over_block(f_.pairs.block_max, f_.pairs.lanes_of_max);
  }

  // Funcs that read products: rows in lanes, keys broadcast. A product that several of them read is
  // stored.
  void readers() {
    for (Func &g : f_.pairs.readers)
      if (!f_.tile.in_matrix_tiles || is_long(g)) over_keys(g, keys_unrolled_);
    for (std::size_t k = 0; k < f_.pairs.products.size(); ++k) {
      if (f_.tile.in_matrix_tiles) {
        matrix_products::scores(f_.pairs.products[k], f_, f_.pairs.features[k], tile_, vl_);
        continue;
      }
      Func &s =
          f_.tile.keys_in_lanes() ? f_.pairs.lanes_of_products[k].whole : f_.pairs.products[k];
      std::vector<Func> users;
      for (Func &g : f_.pairs.readers)
        if (calls(g, s)) users.push_back(g);
      if (users.size() > 1) {
        users = {s.in()};
        over_keys(users[0], keys_unrolled_);
      }
      if (f_.tile.keys_in_lanes())
        product_in_lanes(users[0], k);
      else
        product_in(users[0], s, f_.pairs.features[k]);
    }
  }

  // Sums of features in lanes, for all rows: one key at a time, whose features are contiguous
  // memory, which hardware prefetches. Then sums over the lanes of a vector of keys at once.
  void product_in_lanes(const Func &user, std::size_t k) {
    lane_fold &fold = f_.pairs.lanes_of_products[k];
    const int lanes = f_.tile.feature_lanes, vl = lanes_dividing(lanes, vl_);
    fold.whole.compute_at(user, jo_)
        .bound_extent(f_.v.i, rows_)
        .bound_extent(f_.v.j, vl_)
        .reorder_storage(f_.v.j, f_.v.i)
        .reorder(f_.v.j, f_.v.i)
        .vectorize(f_.v.j);
    fold.whole.update()
        .reorder(fold.over.x, f_.v.j, f_.v.i)
        .atomic()
        .vectorize(fold.over.x)
        .vectorize(f_.v.j);
    const Var key("key");
    fold.side_by_side.compute_at(user, jo_)
        .bound_extent(f_.v.i, rows_)
        .split(f_.v.lane, key, f_.v.lane, fold.lanes)
        .reorder(f_.v.lane, f_.v.i, key)
        .partition(key, Partition::Never)
        .vectorize(f_.v.lane)
        .unroll(f_.v.i);
    const auto place = [&](Func &g, int n) {
      g.compute_at(fold.side_by_side, key)
          .bound_extent(f_.v.lane, n)
          .bound_extent(f_.v.i, rows_)
          .reorder(f_.v.lane, f_.v.i)
          .vectorize(f_.v.lane, std::min(n, vl))
          .unroll(f_.v.lane)
          .unroll(f_.v.i);
    };
    for (int n = lanes / 2; Func & half : fold.halves) {
      place(half, n);
      n /= 2;
    }
    place(fold.of_lane, lanes);
    std::vector<Halide::VarOrRVar> inner = {f_.v.lane, f_.v.i};
    for (const RVar &v : f_.pairs.features[k]) inner.emplace_back(v);
    Halide::Stage add = fold.of_lane.update();
    if (f_.tile.bf16)
      bf16_products::product_in_lanes(add, f_.v, f_.pairs.features[k]);
    else
      add.reorder(inner).vectorize(f_.v.lane, vl).unroll(f_.v.lane).unroll(f_.v.i);
    const RVar &feature = f_.tile.bf16 ? f_.pairs.features[k].back() : f_.pairs.features[k].front();
    const bool is_short = nodes_of(fold.of_lane.update_value()) <= most_repeated;
    if (const auto n = constant(feature.extent()); n && *n <= m_.cpu.features.unrolled && is_short)
      add.unroll(feature);
  }

  // The whole tile, also where the mask needs only a part: a register tile has no tails.
  void product_in(const Func &user, Func &s, const std::vector<RVar> &features) {
    s.compute_at(user, jo_)
        .bound_extent(f_.v.i, row_vectors_ * vl_)
        .bound_extent(f_.v.j, keys_unrolled_)
        .vectorize(f_.v.i, vl_)
        .unroll(f_.v.i)
        .unroll(f_.v.j);
    if (f_.tile.bf16) return bf16_products::product(s.update(), f_.v, features, vl_);
    std::vector<Halide::VarOrRVar> inner = {f_.v.i, f_.v.j};
    for (const RVar &v : features) inner.emplace_back(v);
    s.update().reorder(inner).vectorize(f_.v.i, vl_).unroll(f_.v.i).unroll(f_.v.j);
  }

  void over_keys(Func &g, int unrolled) {
    if (f_.tile.keys_in_lanes()) {
      in_vectors_of_keys(g, f_, tile_, vl_, stored_keys());
      g.partition(jo_, Partition::Never);  // else, all code stands twice
      return;
    }
    g.compute_at(tile_)
        .bound_extent(f_.v.i, rows_)
        .bound_storage(f_.v.j, stored_keys())
        .split(f_.v.j, jo_, ji_, unrolled, TailStrategy::RoundUp)
        .split(f_.v.i, io_, ii_, row_vectors_ * vl_)
        .reorder(ii_, ji_, jo_, io_)
        .vectorize(ii_, vl_)
        .unroll(ii_);
    is_long(g) ? g.unroll(ji_, std::min(unrolled, 2)) : g.unroll(ji_);
  }

  // Of a tile whose last keys, of those computed at a time, may not exist.
  int stored_keys() const {
    const auto whole = [](int n, int unit) { return (n + unit - 1) / unit * unit; };
    return whole(whole(f_.tile.keys, keys_unrolled_), m_.cpu.weight_keys);
  }

  // Rows in lanes read each number of a key by itself: what it is made of is computed once a block.
  void computed_keys() {
    if (f_.tile.keys_in_lanes()) return;
    for (Func &g : f_.reads.computed_keys)
      g.compute_at(block_).vectorize(g.args().front(), vl_, TailStrategy::GuardWithIf);
  }

  attention_funcs &f_;
  Halide::Stage out_;
  const int form_;
  const bool keeps_sums_;
  const machine &m_;
  const int rows_, vl_;
  const int row_vectors_, keys_unrolled_;  // of a register tile of scores
  const Var io_{"io"}, ii_{"ii"}, jo_{"jo"}, ji_{"ji"};
  LoopLevel tile_, block_;
  LoopLevel at_;  // the task
};

}  // namespace

void schedule_attention_cpu(std::vector<attention_funcs> &forms, const machine &m,
                            const std::vector<bool> &is_output) {
  attention_result &result = forms.back().result;
  if (forms[0].keeps_sums()) {
    for (std::size_t k = 0; k < result.copies.size(); ++k)
      if (!is_output[k]) result.copies[k].compute_root();
    for (Func &g : result.at_pairs) copy(g, true, m.cpu.lanes(g.type().bits()));
    scheduler(forms[0], forms[0].running.state, 0, m).run();
    return;
  }
  Func &out = result.out;
  if (!is_output[0] || !result.copies.empty()) out.compute_root();
  for (std::size_t k = 0; k < result.copies.size(); ++k)
    copy(result.copies[k], is_output[k], m.cpu.lanes(out.types()[0].bits()));
  std::vector<Halide::Stage> definitions;
  for (std::size_t k = 0; k + 1 < forms.size(); ++k)
    definitions.push_back(out.specialize(forms[k].is_taken));
  definitions.push_back(out);
  for (std::size_t k = 0; k < forms.size(); ++k)
    scheduler(forms[k], definitions[k], static_cast<int>(k), m).run();
}

}  // namespace qkv::codegen
