// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/call_memory.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "codegen/plan/block_copies.hpp"
#include "codegen/plan/temporaries.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/sheets/cost.hpp"

namespace qkv::codegen {
namespace {

// Sums without columns have a partial sum for each number in a vector.
constexpr int lanes = largest_tiles::lanes;
constexpr std::int64_t task_rows = largest_tiles::task_rows, block_keys = largest_tiles::block_keys,
                       tasks = largest_tiles::tasks;

// Buffers that are read in place of a step, which the stage itself computes.
using replacements = std::map<node_id, std::vector<int>>;

class memory_writer {
 public:
  memory_writer(const plan &made, const std::vector<std::int64_t> &size)
      : made_(made),
        p_(made.p),
        size_(size),
        taken_(taken_steps(p_, size)),
        masked_(masked_steps(p_)) {}

  call_memory run() {
    for (const stage &s : made_.cut.list)
      for (const node_id root : roots_of(s))
        if (p_[root].kind != op::output) buffer_of_[root] = add(bytes(root, p_[root].shape));
    reads_memory_ = steps_that_read_memory();
    for (const stage &s : made_.cut.list) {
      if (taken_[main_step_of(s)])
        std::visit([&](const auto &one) { write(one); }, s);
      else
        for (const node_id root : roots_of(s)) sweep_of({root}, {}, {});
      ++stage_;
    }
    return {std::move(buffers_), in_order()};
  }

 private:
  formula bytes(node_id type_of, const std::vector<axis_id> &axes) const {
    return formula(size_of(p_[type_of].type), axes);
  }
  int add(const formula &bytes) {
    buffers_.push_back(bytes);
    return static_cast<int>(buffers_.size()) - 1;
  }
  bool is_stored(node_id n) const { return buffer_of_.count(n) > 0; }

  // Buffers that n is computed from, in the order in which expressions read them. Results of two
  // orders of contractions are both there; the one that the sizes do not choose is not computed.
  void find_reads(node_id n, const replacements &inside, std::set<node_id> &seen,
                  std::vector<int> &reads) const {
    if (!seen.insert(n).second) return;
    if (const auto found = inside.find(n); found != inside.end()) {
      reads.insert(reads.end(), found->second.begin(), found->second.end());
    } else if (is_stored(n)) {
      reads.push_back(buffer_of_.at(n));
    } else if (taken_[n]) {
      for (const node_id operand : p_[n].in) find_reads(operand, inside, seen, reads);
    }
  }
  // Of steps that are operands.
  std::vector<int> reads_of(const std::vector<node_id> &steps) const {
    std::set<node_id> seen;
    std::vector<int> reads;
    for (const node_id n : steps)
      if (n != no_step) find_reads(n, {}, seen, reads);
    return reads;
  }
  // Of a step that the stage stores, or that is inside of it.
  std::vector<int> reads_of_result(node_id n, const replacements &inside = {}) const {
    if (const auto found = inside.find(n); found != inside.end()) return found->second;
    std::set<node_id> seen;
    std::vector<int> reads;
    for (const node_id operand : p_[n].in) find_reads(operand, inside, seen, reads);
    return reads;
  }

  void sweep_of(const std::vector<node_id> &roots, std::vector<int> temporary,
                std::vector<int> reads) {
    sweep s{stage_, std::move(temporary), std::move(reads)};
    for (const node_id root : roots) {
      sweep_of_[root] = sweeps_.size();
      if (is_stored(root)) s.writes.push_back(buffer_of_[root]);
    }
    for (const int b : s.writes) writer_.emplace(b, sweeps_.size());
    sweeps_.push_back(std::move(s));
  }

  // Panels of the right operand, where the runtime has not packed it.
  void write(const contraction_stage &c) {
    const auto is_packed = [&](const pack &k) {
      return k.param == c.right && k.rows == p_[c.core].over &&
             k.columns == std::vector<axis_id>{c.column};
    };
    std::vector<int> reads = reads_of({c.left});
    if (std::none_of(made_.packs.begin(), made_.packs.end(), is_packed)) {
      std::vector<axis_id> outer;
      for (const axis_id a : c.outer)
        if (has(p_[c.right].shape, a)) outer.push_back(a);
      reads.push_back(add(panels(c, with(outer, p_[c.core].over))));
      sweep_of({}, {reads.back()}, reads_of({c.right}));
    }
    std::vector<int> copies;
    if (are_rows_copied(made_, c)) copies.push_back(add(rows_of_tile(c)));
    sweep_of({c.root}, copies, reads_of_result(c.root, {{c.core, reads}}));
  }

  // The rows of a register tile, whose sums fill the registers.
  formula rows_of_tile(const contraction_stage &c) const {
    const int panel = largest_tiles::panels.of(static_size(p_, c.column));
    const int rows = largest_tiles::sums / std::clamp(panel / lanes, 1, 4);
    const cells row{static_cast<double>(size_of(p_[c.core].type)), p_[c.core].over};
    return c.row == no_axis ? row : at_most(rows, c.row, row);
  }

  formula panels(const contraction_stage &c, std::vector<axis_id> others) const {
    const std::int64_t columns = static_size(p_, c.column);
    const int panel = largest_tiles::panels.of(columns), each = size_of(p_[c.core].type);
    if (columns > 0 && columns % panel != 0)
      return formula(static_cast<double>((columns + panel - 1) / panel * panel * each), others);
    return formula(each, with(std::move(others), {c.column}));
  }

  // Bytes at each position along some axes.
  struct cells {
    double bytes;
    std::vector<axis_id> axes;
    operator formula() const { return formula(bytes, axes); }
  };
  static cells along(axis_id a, cells c) { return {c.bytes, with(std::move(c.axes), {a})}; }
  // For so many positions of an axis, or for all if there are fewer.
  cells at_most(std::int64_t most, axis_id a, cells c) const {
    if (size_[a] < most) return along(a, std::move(c));
    return {c.bytes * static_cast<double>(most), std::move(c.axes)};
  }
  // Whole vectors of columns; without columns, partial sums.
  cells in_lanes(axis_id column, cells c) const {
    const std::int64_t n = column == no_axis ? 1 : static_size(p_, column);
    if (n < 0 || n % lanes == 0) return along(column, std::move(c));
    return {c.bytes * static_cast<double>((n + lanes - 1) / lanes * lanes), std::move(c.axes)};
  }
  // Axes that a step has besides those of rows and of tasks.
  std::vector<axis_id> features(const attention_stage &a, node_id n) const {
    return without(without(p_[n].shape, a.outer), {a.row});
  }

  // The sums of a task, and copies of its rows. Several results are copied from one, as wide as the
  // widest, with a column for each number of a row.
  void write(const attention_stage &a) {
    if (a.keeps_sums()) return write_kept(a);
    const std::vector<node_id> roots = roots_of(a);
    const int task = add(memory_of_task(a));
    std::vector<int> reads = reads_of_pairs(a);
    if (roots.size() == 1)
      return sweep_of(roots, {task}, reads_of_result(roots[0], {{a.sums[0].core, reads}}));
    replacements inside;
    std::vector<axis_id> around = a.outer;
    if (a.row != no_axis) around.push_back(a.row);
    int wide = 0, per_row = a.lse != no_step;
    for (const weighted_sum &sum : a.sums) ++(sum.column == no_axis ? per_row : wide);
    const int each = size_of(p_[a.sums[0].core].type);
    formula all(each * per_row * std::max(wide, 1), around);
    if (wide > 0) all += formula(each * wide, with(around, {widest(a)}));
    const int whole = add(all);
    for (const weighted_sum &sum : a.sums) inside[sum.core] = {whole};
    if (a.lse != no_step) inside[a.lse] = {whole};
    sweep_of({}, {whole, task}, reads);
    for (const node_id root : roots) sweep_of({root}, {}, reads_of_result(root, inside));
  }

  // A mask that hides some keys looks at their values first.
  std::vector<int> reads_of_pairs(const attention_stage &a) const {
    std::vector<node_id> steps;
    for (const weighted_sum &sum : all_sums(a)) {
      const bool looks = masked_[a.is_normalised() ? a.scores : sum.pairs];
      steps.insert(steps.end(), {looks ? sum.values : sum.pairs, looks ? sum.pairs : sum.values});
    }
    if (a.lse != no_step) steps.push_back(a.scores);
    return reads_of(steps);
  }

  formula memory_of_task(const attention_stage &a) const {
    formula all;
    if (a.row == no_axis) return all;
    const double each = size_of(p_[a.sums[0].core].type);
    for (const weighted_sum &sum : a.sums) {
      if (sum.column == no_axis) continue;
      all += at_most(task_rows, a.row, in_lanes(widest(a), {each, {}}));
      if (is_copied(sum)) all += at_most(block_keys, a.key, in_lanes(sum.column, {each, {}}));
    }
    for (const node_id n : row_copies(a))
      all += at_most(task_rows, a.row, {1. * size_of(p_[n].type), features(a, n)});
    return all;
  }

  axis_id widest(const attention_stage &a) const {
    axis_id widest = no_axis;
    for (const weighted_sum &sum : all_sums(a))
      if (!sum.is_placed() && sum.column != no_axis &&
          (widest == no_axis || size_[sum.column] > size_[widest]))
        widest = sum.column;
    return widest;
  }

  // The sums of one position of the other axes until all pairs are seen, and copies of its rows.
  // Rows are divided where there are few positions; each part has sums for all keys.
  void write_kept(const attention_stage &a) {
    std::int64_t positions = 1;
    for (const axis_id x : without(a.outer, summed_at_pairs(p_, a)))
      positions = std::min(positions * size_[x], tasks);
    const std::int64_t least = std::max<std::int64_t>(positions, 1);
    const auto parts = static_cast<double>((tasks + least - 1) / least);
    const double each = size_of(p_[a.sums[0].core].type);
    formula all;
    for (const weighted_sum &sum : a.sums)
      all += along(a.row, in_lanes(widest(a), {sum.column == no_axis ? each / lanes : each, {}}));
    for (const attention_stage &x : a.across)
      for (const weighted_sum &sum : x.sums) {
        all += along(a.key, in_lanes(widest(a), {each * parts, {}}));
        if (is_copied(sum)) all += along(a.row, in_lanes(sum.column, {each / parts, {}}));
      }
    for (const weighted_sum &sum : a.placed) all += formula(each * parts, {sum.column});
    for (const node_id n : row_copies(a))
      all += along(a.row, {size_of(p_[n].type) / parts, features(a, n)});
    std::vector<int> reads = reads_of_pairs(a);
    for (const node_id root : roots_of(a))
      for (const int b : reads_of_result(root)) reads.push_back(b);
    sweep_of(roots_of(a), {add(all)}, reads);
  }

  // Values are computed, widened from 16 bits say, or padded where they do not fill vectors.
  bool is_copied(const weighted_sum &sum) const {
    return sum.column != no_axis && (is_copied_for_blocks(made_, sum.values, sum.column) ||
                                     static_size(p_, sum.column) % lanes != 0);
  }

  // Steps that a walk reads for each row: it copies them, transposed.
  std::set<node_id> row_copies(const attention_stage &a) const {
    std::set<node_id> seen, copies;
    const std::function<void(node_id)> visit = [&](node_id n) {
      if (!seen.insert(n).second) return;
      const node &x = p_[n];
      if (has(x.shape, a.row) && !has(x.shape, a.key) && x.type != b8) {
        if (reads_memory_[n]) copies.insert(n);
      } else if (!is_stored(n)) {
        for (const node_id operand : x.in) visit(operand);
      }
    };
    for (const weighted_sum &sum : all_sums(a)) visit(sum.pairs);
    return copies;
  }
  std::vector<bool> steps_that_read_memory() const {
    std::vector<bool> reads;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      reads.push_back(is_stored(n) || x.kind == op::param ||
                      (x.kind == op::input && !x.is_position) ||
                      std::any_of(x.in.begin(), x.in.end(), [&](node_id m) { return reads[m]; }));
    }
    return reads;
  }

  // Numbers of a reduction at each position that remains, or sums that are added in place.
  void write(const map_stage &m) {
    if (m.core == no_step) return sweep_of({m.root}, {}, reads_of_result(m.root));
    const node &core = p_[m.core];
    const std::vector<int> reads = reads_of(core.in);
    std::vector<int> made;
    if (core.kind == op::cumsum || core.kind == op::put)
      made.push_back(add(bytes(m.core, p_[m.root].shape)));
    else if (!core.over.empty())
      for (int k = folds_of(p_, masked_, m.core); k-- > 0;)
        made.push_back(add(bytes(m.core, without(p_[m.root].shape, core.over))));
    if (!made.empty()) sweep_of({}, made, reads);
    if (made.empty() || makes_weights(core.kind))
      made.insert(made.end(), reads.begin(), reads.end());
    sweep_of({m.root}, {}, reads_of_result(m.root, {{m.core, made}}));
  }

  // The table of states, folds and results of all positions; the results are copied from it.
  void write(const scan_stage &s) {
    const scan_table table(p_, s);
    formula all;
    for (const std::vector<axis_id> &rows : table.blocks(masked_))
      all += bytes(s.carried, with(rows, table.columns));
    const int whole = add(all);
    std::vector<node_id> operands;
    replacements inside;
    for (const node_id core : s.cores) {
      operands.insert(operands.end(), p_[core].in.begin(), p_[core].in.end());
      inside[core] = {whole};
    }
    sweep_of({}, {whole}, reads_of(operands));
    for (const node_id root : s.roots) sweep_of({root}, {}, reads_of_result(root, inside));
  }

  // Halide computes what a result needs, depth first, before the next result.
  std::vector<sweep> in_order() const {
    std::vector<sweep> order;
    std::vector<bool> done(sweeps_.size());
    const std::function<void(std::size_t)> visit = [&](std::size_t k) {
      if (done[k]) return;
      done[k] = true;
      for (const int b : sweeps_[k].reads) visit(writer_.at(b));
      order.push_back(sweeps_[k]);
    };
    for (const node_id n : p_.outputs)
      if (const auto found = sweep_of_.find(n); found != sweep_of_.end()) visit(found->second);
    return order;
  }

  const plan &made_;
  const program &p_;
  const std::vector<std::int64_t> &size_;
  const std::vector<bool> taken_, masked_;
  std::vector<bool> reads_memory_;
  int stage_ = 0;
  std::vector<formula> buffers_;
  std::vector<sweep> sweeps_;  // in the order of the plan
  std::map<node_id, int> buffer_of_;
  std::map<node_id, std::size_t> sweep_of_;  // that computes a root
  std::map<int, std::size_t> writer_;        // of a buffer
};

}  // namespace

call_memory memory_of(const plan &made, const std::vector<std::int64_t> &size) {
  return memory_writer(made, size).run();
}

}  // namespace qkv::codegen
