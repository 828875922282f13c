// SPDX-License-Identifier: BSL-1.0
// Attention on GPUs: a block of threads owns a tile of rows and iterates over the keys.
//   for each tile of rows, each of the outer positions (and each block of columns)      blocks
//     queries into shared memory; the state (alpha, beta, m, l, o) in registers: thread (x, y)
//       keeps some rows and columns
//     for each block of keys
//       keys and values into shared memory; scores in registers, rows x keys spread over threads
//       m and l: every thread over its own keys, then across threads; weights into shared memory
//       o of the block in registers; merge into the state
#include <algorithm>
#include <set>
#include <string>

#include "codegen/halide/schedules/calls.hpp"
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"

namespace qkv::codegen {
namespace {

using Halide::Func;
using Halide::LoopLevel;
using Halide::MemoryType;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

class schedule {
 public:
  schedule(attention_funcs &f, const gpu_tiles &limits)
      : f_(f),
        t_(f.tile),
        limits_(limits),
        rows_(t_.rows / t_.threads.y),
        keys_(t_.keys / t_.threads.x) {}

  void run() {
    blocks();
    state();
    readers();
    products();
    operands();
    weights();
    for (attention_sum &sum : f_.sums) {
      if (sum.has_columns())
        values(sum);
      else
        without_columns(sum);
    }
    pairs();
    for (const Func &copy : f_.result.copies) gpu::pointwise(copy);
  }

 private:
  int vector_width(int n) const { return gpu::vector_width(n, limits_); }
  int vector_of_columns() const { return vector_width(t_.threads.columns); }

  // One position along the outer axes, one tile of rows, one block of keys: bounds them where
  // bounds inference cannot tell.
  Func &single(Func &g) const {
    for (const Var &v : g.args()) {
      const auto is = [&](const Var &w) { return v.name() == w.name(); };
      if (is(f_.v.T) || is(f_.v.b) || std::any_of(f_.v.outer.begin(), f_.v.outer.end(), is))
        g.bound_extent(v, 1);
    }
    return g;
  }

  void shared(Func &g, const LoopLevel &at) {
    // storage lives as long as the block: Halide 21 overlays buffers of different steps of a loop
    // as if it ran once
    single(g).compute_at(at).store_in(MemoryType::GPUShared).hoist_storage(block_);
  }

  void blocks() {
    Func &out = f_.result.out;
    out.compute_root();
    const Var column = f_.result.column_of_out(f_.v);
    const bool has_column = f_.result.has_column || !f_.result.copies.empty();
    std::vector<VarOrRVar> order;
    if (!has_column && !f_.result.has_row && !f_.result.outer.empty())
      only_first_slice(out, f_.result.outer[0]);
    std::vector<Var> grid = f_.result.outer;
    Var il("row_in_tile"), ry("row_of_thread"), rx("column_of_thread"), cb("column_block"),
        slice("slice_of_all");
    if (has_column) {
      if (t_.threads.column_blocks) {
        out.split(column, slice, rx, t_.threads.columns, TailStrategy::GuardWithIf);
        out.split(slice, cb, tx_, t_.threads.x, TailStrategy::GuardWithIf);
      } else {
        out.split(column, tx_, rx, t_.threads.columns, TailStrategy::GuardWithIf);
      }
      out.unroll(rx);
      order.emplace_back(rx);
    }
    if (f_.result.has_row) {
      out.split(f_.result.row, f_.v.T, il, t_.rows, TailStrategy::GuardWithIf)
          .split(il, ty_, ry, rows_)
          .unroll(ry);
      order.emplace_back(ry);
      if (!has_column) only_first_slice(out, f_.v.T);
      grid.push_back(f_.v.T);
    }
    if (has_column && t_.threads.column_blocks) grid.push_back(cb);
    if (grid.empty()) {  // one number: nothing to make a grid of; the state's own tile is one
      out.gpu_single_thread();
      stored_state_ = true;
      return;
    }
    order.emplace_back(tx_);
    if (f_.result.has_row) order.emplace_back(ty_);
    for (const Var &g : grid) order.emplace_back(g);
    out.reorder(order);
    if (f_.result.has_row)
      out.gpu_threads(tx_, ty_);
    else
      out.gpu_threads(tx_);
    gpu::grid(out, grid);
    block_ = LoopLevel(out, grid[0]);
  }

  // A result without columns is written by the threads that hold the first slice.
  void only_first_slice(Func &out, const Var &any) {
    out.split(any, any, tx_, 1, TailStrategy::RoundUp);
  }

  void state() {
    const Var x = f_.running.layout.vars[0], slice = f_.running.layout.vars[1],
              y = f_.running.layout.vars[2];
    const RVar cell = f_.running.layout.steps.x;
    if (stored_state_) {
      single(f_.running.state).compute_root().gpu_blocks(f_.v.T);
      f_.running.state.update().gpu_blocks(f_.v.T);
      block_ = LoopLevel(f_.running.state, f_.v.T);
    } else {
      single(f_.running.state).compute_at(block_).store_in(MemoryType::Register);
    }
    int cells = f_.running.statistics;
    for (const attention_sum &sum : f_.sums)
      if (sum.has_columns()) cells += t_.threads.columns;
    f_.running.state.bound(x, 0, cells).bound(y, 0, t_.rows);
    if (t_.threads.column_blocks)
      f_.running.state.bound_extent(slice, t_.threads.x);
    else
      f_.running.state.bound(slice, 0, t_.threads.x);
    f_.running.state.split(y, ty_, ii_, rows_)
        .reorder(x, ii_, slice, ty_)
        .unroll(x)
        .unroll(ii_)
        .gpu_threads(slice, ty_);
    f_.running.state.update()
        .split(y, ty_, ii_, rows_)
        .reorder(cell, ii_, slice, ty_, f_.running.layout.block)
        .unroll(cell)
        .unroll(ii_)
        .gpu_threads(slice, ty_);
    step_ = LoopLevel(f_.running.state, f_.running.layout.block);
    merge_ = LoopLevel(f_.running.state, slice);
  }

  // Rows x keys in registers, scheduled over the threads.
  void in_tiles(Func &g) {
    single(g).compute_at(step_).store_in(MemoryType::Register);
    std::vector<Var> storage = g.args();
    std::swap(storage[0], storage[1]);  // adjacent keys of a thread
    g.reorder_storage(storage);
    g.bound(f_.v.i, 0, t_.rows)
        .bound(f_.v.j, 0, t_.keys)
        .split(f_.v.i, ty_, ii_, rows_)
        .split(f_.v.j, tx_, jj_, keys_);
    g.reorder(jj_, ii_, tx_, ty_).unroll(jj_).unroll(ii_).gpu_threads(tx_, ty_);
  }

  void readers() {
    for (Func &g : f_.pairs.readers) in_tiles(g);
  }

  // Where a product is computed: inside its only reader, or as a tile of its own.
  Func reader_of(Func &product) {
    std::vector<Func> users;
    for (Func &g : f_.pairs.readers)
      if (calls(g, product)) users.push_back(g);
    if (users.size() == 1) return users[0];
    Func tile = product.in();
    in_tiles(tile);
    return tile;
  }

  void products() {
    for (std::size_t k = 0; k < f_.pairs.products.size(); ++k) {
      Func &s = f_.pairs.products[k];
      single(s)
          .compute_at(reader_of(s), tx_)
          .store_in(MemoryType::Register)
          .bound_extent(f_.v.i, rows_)
          .bound_extent(f_.v.j, keys_);
      s.vectorize(f_.v.j).unroll(f_.v.i);
      bool in_vectors = gpu::fits_vectors(s);
      if (!t_.threads.staged)  // then they are recomputed here
        for (const auto *tiles : {&f_.reads.row_tiles, &f_.reads.key_tiles})
          for (const Func &tile : *tiles) in_vectors = in_vectors && gpu::fits_vectors(tile);
      std::vector<VarOrRVar> order = {f_.v.j, f_.v.i};
      for (const RVar &v : f_.pairs.features[k]) order.emplace_back(v);
      s.update().reorder(order).unroll(f_.v.i);
      if (in_vectors)
        s.update().vectorize(f_.v.j);
      else
        s.update().unroll(f_.v.j);
      const RVar feature = f_.pairs.features[k][0];
      // products outside vectors call a function, tanh say: a feature at a time, since PoCL's
      // compiler does not end on more
      const int unrolled = in_vectors ? vector_width(gpu::extent_of(s, feature)) : 1;
      if (unrolled > 1) s.update().unroll(feature, unrolled);
      if (!t_.threads.staged) continue;
      for (Func &q : f_.reads.row_tiles)
        if (calls(s, q)) fragment(q, s, feature, f_.v.i, rows_);
      for (Func &key : f_.reads.key_tiles)
        if (calls(s, key)) fragment(key, s, feature, f_.v.j, keys_);
    }
  }

  // Tiles of queries and keys in shared memory.
  void operands() {
    if (!t_.threads.staged) return;
    for (Func &q : f_.reads.row_tiles)
      if (in_a_product(q)) {
        single(q).compute_at(block_).store_in(MemoryType::GPUShared).bound(f_.v.i, 0, t_.rows);
        load(q, f_.v.i);
      }
    for (Func &k : f_.reads.key_tiles)
      if (in_a_product(k)) {
        shared(k, step_);
        k.bound(f_.v.j, 0, t_.keys);
        const std::size_t features = features_of(k).size();
        std::vector<Var> storage = k.args();
        std::rotate(storage.begin(), storage.begin() + features, storage.begin() + features + 1);
        k.reorder_storage(storage);
        load(k, f_.v.j);
      }
  }

  bool in_a_product(const Func &g) const {
    return std::any_of(f_.pairs.products.begin(), f_.pairs.products.end(),
                       [&](const Func &s) { return calls(s, g); });
  }

  // The part of a shared tile that a thread reads for some features, as one vector along rows or
  // keys.
  void fragment(Func tile, Func &user, const RVar &at, const Var &lane, int lanes) {
    Func part = tile.in(user);
    single(part)
        .compute_at(user, at)
        .store_in(MemoryType::Register)
        .bound_extent(lane, lanes)
        .vectorize(lane);
    for (const Var &v : features_of(tile)) part.unroll(v);
  }

  std::vector<Var> features_of(const Func &tile) const {
    std::vector<Var> features;
    for (const Var &v : tile.args()) {
      if (v.name() == f_.v.T.name() || (v.name() == f_.v.j.name())) break;
      if (v.name() != f_.v.i.name()) features.push_back(v);
    }
    return features;
  }

  // Floats of one access along any feature of the products that read the tile.
  int vector_of_features(const Func &tile) const {
    int width = limits_.load_width;
    for (std::size_t k = 0; k < f_.pairs.products.size(); ++k)
      if (calls(f_.pairs.products[k], tile))
        for (const RVar &v : f_.pairs.features[k])
          width = std::min(width, vector_width(gpu::extent_of(f_.pairs.products[k], v)));
    return width;
  }

  // Rows or keys of an operand, with the first of its features in vectors. Positions at which a
  // table is read have no features.
  void load(Func &tile, const Var &along) {
    std::vector<Var> dims = features_of(tile);
    const int width = dims.empty() ? 1 : vector_of_features(tile);
    dims.insert(dims.begin() + (dims.empty() ? 0 : 1), along);
    load(tile, dims, width);
  }

  // All threads bring a tile into shared memory; dims: innermost first, the first in vectors.
  // Several loads of a thread are unrolled inside the loop over threads: a loop outside would cost
  // a barrier each.
  void load(Func &g, const std::vector<Var> &dims, int width) {
    Var vec("vec"), rest("rest"), round("round"), thread("thread");
    g.split(dims[0], rest, vec, gpu::fits_vectors(g) ? width : 1);
    std::vector<VarOrRVar> order = {vec, rest};
    order.insert(order.end(), dims.begin() + 1, dims.end());
    g.reorder(order);
    std::vector<Var> elements = dims;
    elements[0] = rest;
    g.split(fused(g, elements)[0], round, thread, t_.threads.x * t_.threads.y,
            TailStrategy::GuardWithIf)
        .split(thread, ty_, tx_, t_.threads.x);
    g.reorder(vec, round, tx_, ty_).vectorize(vec).unroll(round).gpu_threads(tx_, ty_);
  }

  // A reduction over the keys of a block: each thread over its own, in registers, then through
  // shared memory.
  RVar across_threads(Func &g, const Halide::RDom &keys) {
    RVar outer("thread_of_keys"), inner("keys_of_thread");
    g.update().split(keys.x, outer, inner, keys_);
    Func part = g.update().rfactor(outer, tx_), gathered = part.in();
    shared(gathered, step_);
    gathered.bound(f_.v.i, 0, t_.rows)
        .bound(tx_, 0, t_.threads.x)
        .split(f_.v.i, ty_, ii_, rows_)
        .reorder(ii_, tx_, ty_)
        .vectorize(ii_)
        .gpu_threads(tx_, ty_);
    single(part).compute_at(gathered, tx_).store_in(MemoryType::Register).vectorize(f_.v.i);
    part.update().reorder(f_.v.i, inner).vectorize(f_.v.i).unroll(inner);
    return outer;
  }

  // Such a sum, read by the merge alone.
  void merged(Func &g, const Halide::RDom &keys) {
    const RVar over = across_threads(g, keys);
    single(g)
        .compute_at(merge_)
        .store_in(MemoryType::Register)
        .vectorize(f_.v.i)
        .update()
        .unroll(over)
        .vectorize(f_.v.i);
  }

  // Gates may call functions, which OpenCL does not have for vectors: they are computed apart.
  void without_columns(attention_sum &sum) {
    if (sum.gated) in_tiles(sum.pairs);
    merged(sum.block_out, sum.keys_clean);
  }

  void weights() {
    if (f_.running.has_maximum) {
      const RVar over = across_threads(f_.pairs.block_max, f_.pairs.keys);
      Func whole = f_.pairs.block_max.in();  // read by the weights and by the merge
      shared(whole, step_);
      Var lane("lane");
      whole.bound(f_.v.i, 0, t_.rows)
          .split(f_.v.i, ty_, lane, rows_)
          .reorder(lane, ty_)
          .gpu_threads(lane, ty_);
      single(f_.pairs.block_max)
          .compute_at(whole, lane)
          .store_in(MemoryType::Register)
          .update()
          .unroll(over);
      in_tiles(f_.pairs.weights);
    }
    if (f_.pairs.block_sum.defined()) merged(f_.pairs.block_sum, f_.pairs.keys);
  }

  void values(attention_sum &sum) {
    const int vec = vector_of_columns();
    shared(sum.values, step_);
    const int width = t_.threads.x * t_.threads.columns;
    if (t_.threads.column_blocks)
      sum.values.bound_extent(f_.v.c, width);
    else
      sum.values.bound(f_.v.c, 0, width);
    sum.values.bound(f_.v.j, 0, t_.keys);
    load(sum.values, {f_.v.c, f_.v.j}, vector_width(width));

    const RVar key = sum.keys_clean.x;
    const int unrolled = vector_width(t_.keys);
    single(sum.product).compute_at(merge_).store_in(MemoryType::Register);
    sum.product.vectorize(f_.v.c, vec).unroll(f_.v.c).unroll(f_.v.i);
    sum.product.update()
        .reorder(f_.v.c, f_.v.i, key)
        .vectorize(f_.v.c, vec)
        .unroll(f_.v.c)
        .unroll(f_.v.i)
        .unroll(key, unrolled);
    Func vf = sum.values.in(sum.product);
    single(vf)
        .compute_at(sum.product, key)
        .store_in(MemoryType::Register)
        .vectorize(f_.v.c, vec)
        .unroll(f_.v.c)
        .unroll(f_.v.j);
  }

  // Pairs in shared memory, for the products with values that read them.
  void pairs() {
    std::set<std::string> done;
    for (attention_sum &one : f_.sums) {
      if (!one.has_columns() || !done.insert(one.pairs.name()).second) continue;
      std::vector<Func> users;
      for (attention_sum &sum : f_.sums)
        if (sum.has_columns() && sum.pairs.name() == one.pairs.name()) users.push_back(sum.product);
      Func p = one.pairs.in(users);
      shared(p, step_);
      p.bound(f_.v.i, 0, t_.rows)
          .bound(f_.v.j, 0, t_.keys)
          .split(f_.v.i, ty_, ii_, rows_)
          .split(f_.v.j, tx_, jj_, keys_);
      p.reorder(ii_, jj_, tx_, ty_).unroll(jj_).gpu_threads(tx_, ty_);
      if (!one.gated || gpu::fits_vectors(one.pairs))
        p.vectorize(ii_);
      else
        p.unroll(ii_);
      for (attention_sum &sum : f_.sums)
        if (sum.has_columns() && sum.pairs.name() == one.pairs.name()) fragment_of(p, sum);
    }
  }

  // The pairs that a thread multiplies with values, as one vector along the rows.
  void fragment_of(Func &pairs, attention_sum &sum) {
    Func part = pairs.in(sum.product);
    single(part)
        .compute_at(sum.product, sum.keys_clean.x)
        .store_in(MemoryType::Register)
        .vectorize(f_.v.i)
        .unroll(f_.v.j);
  }

  attention_funcs &f_;
  const attention_tile &t_;
  const gpu_tiles &limits_;
  int rows_, keys_;  // of one thread
  Var tx_{"thread_x"}, ty_{"thread_y"}, ii_{"ii"}, jj_{"jj"};
  LoopLevel block_, step_, merge_;
  bool stored_state_ = false;
};

}  // namespace

void schedule_attention_gpu(attention_funcs &f, const machine &m) { schedule(f, m.gpu).run(); }

}  // namespace qkv::codegen
