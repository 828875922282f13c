// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/on_machine/attention_tiling.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

// The size of a stage's state: columns of its widest sum, -1 if the call decides, and sums with
// columns.
struct state_size {
  std::int64_t columns = 0;
  int sums = 0, distinct_pairs = 0, per_row = 0;  // per_row: results that are one number per row
};

attention_tile tile_of(const machine &m, const attention_shape &s, std::int64_t columns,
                       bool staged) {
  attention_tile t;
  t.rows = s.rows, t.keys = s.keys, t.threads.x = s.threads_x, t.threads.y = s.threads_y,
  t.threads.staged = staged;
  std::int64_t wanted = columns < 0 ? 8 : (columns + s.threads_x - 1) / s.threads_x;
  if (wanted > 8)
    wanted =
        wanted > 16 && columns > s.threads_x * m.gpu.columns_per_thread ? 16 : (wanted + 1) / 2 * 2;
  t.threads.columns =
      static_cast<int>(std::clamp<std::int64_t>(wanted, 1, m.gpu.columns_per_thread));
  t.threads.column_blocks = columns < 0 || columns > s.threads_x * t.threads.columns;
  return t;
}

std::int64_t floats_shared(const attention_tile &t, const state_size &z, std::int64_t features) {
  const std::int64_t operands = t.threads.staged ? (t.rows + t.keys) * features : 0;
  return operands + z.sums * t.keys * t.threads.x * t.threads.columns +
         z.distinct_pairs * t.rows * t.keys + t.rows * ((2 + z.per_row) * t.threads.x + 1);
}

attention_tile first_that_fits(const machine &m, const std::vector<attention_shape> &shapes,
                               const state_size &z, std::int64_t features) {
  const std::int64_t shared = m.gpu.shared_bytes / static_cast<std::int64_t>(sizeof(float));
  if (features >= 0)
    for (const attention_shape &s : shapes)
      if (attention_tile t = tile_of(m, s, z.columns, true);
          floats_shared(t, z, features) <= shared)
        return t;
  for (const attention_shape &s : shapes)
    if (attention_tile t = tile_of(m, s, z.columns, false); floats_shared(t, z, 0) <= shared)
      return t;
  return tile_of(m, shapes.back(), z.columns, false);
}

std::int64_t known_size(const program &p, axis_id a) {
  return a == no_axis ? 1 : static_size(p, a);
}

state_size size_of_state(const program &p, const attention_stage &s) {
  state_size z;
  std::set<node_id> pairs;
  for (const weighted_sum &sum : s.sums) {
    if (sum.column == no_axis) {
      ++z.per_row;
      continue;
    }
    ++z.sums;
    pairs.insert(sum.pairs);
    const std::int64_t n = known_size(p, sum.column);
    z.columns = n < 0 || z.columns < 0 ? -1 : std::max(z.columns, n);
  }
  z.distinct_pairs = static_cast<int>(pairs.size());
  const int others = z.per_row + (s.lse != no_step);
  if (z.sums == 0) z.columns = std::max(1, others);
  if (z.sums > 0 && z.columns >= 0) z.columns += others;
  return z;
}

// True if each pair of a row and a key reads a table at its own position: the part of the table
// that a tile reads has no known size.
bool reads_tables_by_pair(const program &p, const attention_stage &s, node_id product) {
  std::set<node_id> steps;
  walk(p, product, [&](node_id n) { return n == product || is_inlinable(p, n); }, steps);
  return std::any_of(steps.begin(), steps.end(), [&](node_id n) {
    return is_gather(p[n].kind) && has(p[n].shape, s.key) && has(p[n].shape, s.row);
  });
}

attention_tile gpu_tile(const machine &m, const program &p, const attention_stage &s) {
  std::int64_t features = 0;
  for (node_id d : s.products) {
    if (reads_tables_by_pair(p, s, d)) features = -1;
    std::int64_t product = 1;
    for (axis_id a : p[d].over)
      product = known_size(p, a) < 0 || product < 0 ? -1 : product * known_size(p, a);
    features = product < 0 || features < 0 ? -1 : features + product;
  }
  const bool has_row = s.row != no_axis;
  const auto shapes =
      m.shapes_for(has_row ? known_size(p, s.row) : std::int64_t{attention_shape::none});
  attention_tile t = first_that_fits(m, shapes, size_of_state(p, s), features);
  if (!has_row) t.threads.column_blocks |= s.outer.empty();  // a grid needs an axis
  return t;
}

// The outer axes along which neither keys nor values vary: query heads that share a key head.
std::vector<axis_id> shared_by_rows(const program &p, const attention_stage &s) {
  std::vector<axis_id> varying;
  const auto add = [&](node_id n) { varying = with(varying, p[n].shape); };
  for (node_id d : s.products)
    for (node_id operand : p[d].in)
      if (has(p[operand].shape, s.key)) add(operand);
  for (const weighted_sum &sum : s.sums)
    if (sum.values != no_step) add(sum.values);
  return s.row == no_axis ? std::vector<axis_id>() : without(s.outer, varying);
}

constexpr int least_features = 4;  // in lanes: less would be slower than rows in lanes

// True if consecutive features lie side by side in memory, in all steps that are read for it.
bool has_contiguous(const program &p, axis_id feature, node_id operand) {
  const node &x = p[operand];
  if (!has(x.shape, feature) || x.shape.back() == feature) return true;
  const bool same_axes = is_pointwise(x.kind) || x.kind == op::broadcast;
  return same_axes &&
         std::ranges::all_of(x.in, [&](node_id n) { return has_contiguous(p, feature, n); });
}

// The most features, up to so many, that lanes can hold in each product of the stage; 1: features
// are not contiguous in the operands. Fewer do if there were fewer steps over them, if they do not
// divide the features of a product (unless it is padded), or if fewer vectors hold these.
int feature_lanes(const program &p, const attention_stage &s, const feature_loops &loops,
                  int vector, bool pads) {
  int lanes = loops.vectors * vector;
  for (node_id d : s.products) {
    const axis_id feature = p[d].over.back();
    const std::int64_t n = known_size(p, feature);
    if (n < 1) return 1;
    const auto vectors = [&](int of) { return (n + of - 1) / of; };
    const auto is_wide = [&] { return lanes > vector && vectors(lanes) * 2 > vectors(lanes / 2); };
    while (is_wide() || (n % lanes != 0 && !pads) ||
           (lanes > least_features && n / lanes < loops.steps))
      lanes /= 2;
    for (node_id operand : p[d].in)
      if (!has_contiguous(p, feature, operand)) return 1;
  }
  return lanes;
}

// Of the numbers that products and sums read.
int least_bits(const program &p, const attention_stage &s) {
  int least = 8 * size_of(p[s.sums[0].core].type);
  const auto look = [&](node_id n) {
    if (is_argument(p[n]) && is_floating(p[n].type))
      least = std::min(least, 8 * size_of(p[n].type));
    return true;
  };
  std::set<node_id> seen;
  for (node_id d : s.products) walk(p, d, look, seen);
  for (const weighted_sum &sum : s.sums)
    if (sum.values != no_step) walk(p, sum.values, look, seen);
  return least;
}

bool has_kept_sums(const stages &cut) {
  return std::any_of(cut.list.begin(), cut.list.end(), [](const stage &s) {
    const auto *a = std::get_if<attention_stage>(&s);
    return a && a->keeps_sums();
  });
}

// True if each set has the form |index(a) - index(b)|, at most a constant.
bool all_bound_size_of_distance(const program &p, const std::vector<position_set> &sets) {
  const auto bounds = [&](const auto &of) {
    const auto &[form, where] = of;
    if (form.size() != 1 || where.most == interval::infinite) return false;
    const term &only = form.begin()->first;
    return only.what == term::step && p[only.id].kind == op::abs &&
           difference_in(affine_of(p, p[only.id].in[0]).form).has_value();
  };
  return !sets.empty() && std::all_of(sets.begin(), sets.end(), [&](const position_set &s) {
    return std::any_of(s.begin(), s.end(), bounds);
  });
}

// True if masks keep the keys of a row to a constant number of positions before and after it.
bool is_in_window(const program &p, const attention_stage &s) {
  bool before = false, after = false;
  std::set<node_id> seen;
  const auto look = [&](node_id n) {
    if (p[n].kind == op::mask) {
      const std::vector<position_set> shown = positions_where(p, p[n].in[1], true);
      if (all_bound_size_of_distance(p, shown)) before = after = true;
      before |= all_bound_distance(
          shown, {s.key}, [](const interval &d) { return d.least != -interval::infinite; });
      after |= all_bound_distance(shown, {s.key},
                                  [](const interval &d) { return d.most != interval::infinite; });
    }
    return is_inlinable(p, n);
  };
  walk(p, s.sums[0].pairs, look, seen);
  return before && after;
}

// Empty where the machine widens bf16, or the stage computes from anything else. As on tensor
// cores, weights become bf16, too, where that is precise enough.
std::optional<tensor_form> products_of_bf16(const machine &m, const plan &made,
                                            const attention_stage &s) {
  if (m.of_bf16.products == 0 && !m.of_bf16.has_matrix_unit()) return std::nullopt;
  std::optional<tensor_form> form = tensor_form_of(made, s);
  const bool fits = form && form->element == bf16 && form->weight_parts == 1 &&
                    (m.of_bf16.products == 0 || form->product.features % m.of_bf16.products == 0);
  return fits ? form : std::nullopt;
}

class cpu_tiling {
 public:
  cpu_tiling(const machine &m, const plan &made, const attention_stage &s)
      : p_(made.p),
        s_(s),
        is_of_gradient_(has_kept_sums(made.cut)),
        machine_(m),
        bf16_(products_of_bf16(m, made, s)),
        lanes_(m.cpu.lanes(8 * size_of(p_[s.sums[0].core].type))),
        pads_(m.has_masked_loads(least_bits(p_, s))),
        features_(feature_lanes(p_, s, m.cpu.features, lanes_, pads_)),
        folded_(shared_by_rows(p_, s)) {}

  std::vector<attention_tile> run() const {
    if (s_.keeps_sums()) {
      attention_tile t;
      const cpu_tiles &cpu = machine_.cpu;
      const both_ways_shape &shape = cpu.both_ways.in_window.rows > 0 && is_in_window(p_, s_)
                                         ? cpu.both_ways.in_window
                                         : cpu.both_ways.usual;
      t.rows = shape.rows, t.keys = shape.keys, t.least_tasks = shape.tasks;
      t.value_lanes = lanes_, t.score_keys = cpu.score_keys;
      return {t};
    }
    const row_count rows = known_rows();
    std::vector<attention_tile> tiles;
    for (const auto &[shape, in_matrix_tiles] : shapes()) {
      if (!fits(shape, rows.least, rows.is_known)) continue;
      const attention_tile t = tile_of(shape, in_matrix_tiles);
      if (is_of_gradient_ && t.is_for_few_rows() && !rows.is_known) continue;
      if (t.one_block && !may_be_one_block(t)) continue;
      if (!tiles.empty() && t.called.most == tiles.back().called.most && takes_all(tiles.back()))
        continue;
      tiles.push_back(t);
      if (!t.is_for_few_rows() || (rows.is_known && takes_all(t))) break;
    }
    share_the_last(tiles);
    return tiles;
  }

 private:
  bool may_be_one_block(const attention_tile &t) const { return known_size(p_, s_.key) <= t.keys; }

  // True if the tile takes calls of any number of keys.
  static bool takes_all(const attention_tile &t) { return t.called.most_keys == called_rows::any; }

  // True if no call that takes the tile has more keys than its block: their number is known, or
  // they lie along an axis of the rows, too.
  bool has_as_few_keys(const attention_tile &t) const {
    const axis_id keys = p_.axes[s_.key].root;
    const auto is_of_keys = [&](axis_id a) { return p_.axes[a].root == keys; };
    return known_size(p_, keys) >= 0 ||
           (t.called.most <= t.keys && std::ranges::any_of(with({s_.row}, folded_), is_of_keys));
  }

  // Removes the form for few rows that has the tile of the last form: the last one takes its calls.
  void share_the_last(std::vector<attention_tile> &tiles) const {
    const attention_tile &last = tiles.back();
    if (last.is_for_few_rows() || last.in_matrix_tiles || !folded_.empty() || copies_values())
      return;
    for (std::size_t k = 0; k + 1 < tiles.size(); ++k) {
      const attention_tile &t = tiles[k];
      if (t.keys_in_lanes() || t.one_block || t.rows != last.rows || t.keys != last.keys) continue;
      std::size_t before = k;
      while (before > 0 && tiles[before - 1].one_block) --before;
      const std::int64_t least = before == 0 ? 1 : tiles[before - 1].called.most + 1;
      if (k + 2 < tiles.size()) {  // a later form is for more rows, and for fewer
        called_rows &later = tiles[k + 1].called;
        later.skipped_least = std::max(t.called.least, least), later.skipped_most = t.called.most;
        later.least = std::max(later.least, least);
      }
      tiles.erase(tiles.begin() + static_cast<std::ptrdiff_t>(k));
      return;
    }
  }

  // True if a form for many rows copies values that lie too regularly, as those for few do not.
  bool copies_values() const {
    const int apart = machine_.cpu.values.columns;
    return apart > 0 && std::any_of(s_.sums.begin(), s_.sums.end(), [&](const weighted_sum &sum) {
             const std::int64_t n = known_size(p_, sum.column);
             return sum.column != no_axis && (n < 0 || n % apart == 0);
           });
  }

  // Rows of a call in which no axis is empty.
  struct row_count {
    std::int64_t least;
    bool is_known;  // true: never more than `least`
  };
  row_count known_rows() const {
    row_count rows{1, true};
    for (axis_id a : with({s_.row}, folded_)) {
      const std::int64_t n = known_size(p_, a);
      if (n < 0)
        rows.is_known = false;
      else
        rows.least = std::min(rows.least * n, std::int64_t{1} << 31);
    }
    return rows;
  }

  // Of `rows`, or of a multiple of these.
  bool fits(const attention_shape &shape, std::int64_t rows, bool is_known) const {
    if (shape.keys_in_lanes && features_ < least_features) return false;
    if (shape.rows_of_query == attention_shape::any) return true;
    if (rows > shape.rows_of_query) return false;
    if (rows == 0 || shape.least_rows == 0) return rows >= shape.least_rows;
    const std::int64_t most = is_known ? rows : shape.rows_of_query / rows * rows;
    return most >= shape.least_rows;
  }

  // The shapes to choose from, best first, each with true if matrix tiles compute its products.
  // Calls of fewer rows than these are for take the machine's other shapes.
  std::vector<std::pair<attention_shape, bool>> shapes() const {
    std::vector<std::pair<attention_shape, bool>> all;
    const std::vector<attention_shape> &matrix = machine_.of_bf16.matrix_attention;
    const bool has_matrix = bf16_ && machine_.of_bf16.has_matrix_unit();
    for (const attention_shape &s :
         has_matrix ? up_to(matrix[0].least_rows - 1) : machine_.attention)
      all.emplace_back(s, false);
    if (has_matrix)
      for (const attention_shape &s : matrix) all.emplace_back(s, true);
    return all;
  }

  // The machine's shapes for calls of at most so many rows, as if there were no others.
  std::vector<attention_shape> up_to(std::int64_t rows) const {
    std::vector<attention_shape> all;
    for (attention_shape s : machine_.attention) {
      const bool has_lanes = !s.keys_in_lanes || features_ >= least_features;
      if (rows < 1 || s.least_rows > rows || !has_lanes) continue;
      const bool is_last = s.rows_of_query == attention_shape::any || s.rows_of_query >= rows;
      if (is_last) {
        s.rows_of_query = rows;
        s.per_task = static_cast<int>((rows + s.rows - 1) / s.rows);
      }
      all.push_back(s);
      if (is_last && !s.one_block && s.least_rows == 0) break;
    }
    return all;
  }

  attention_tile tile_of(const attention_shape &shape, bool in_matrix_tiles) const {
    attention_tile t;
    t.rows = shape.rows, t.keys = shape.keys, t.per_task = shape.per_task;
    t.score_keys = shape.score_keys > 0 ? shape.score_keys : machine_.cpu.score_keys;
    if (shape.rows_of_query != attention_shape::any)
      t.called.least = shape.least_rows, t.called.most = shape.rows_of_query, t.folded = folded_;
    t.one_block = shape.one_block;
    if (t.one_block && !has_as_few_keys(t)) t.called.most_keys = t.keys;
    if (shape.keys_in_lanes) t.key_lanes = lanes_, t.feature_lanes = features_;
    if (!shape.keys_in_lanes || pads_) t.value_lanes = lanes_;
    if (in_matrix_tiles)
      t.key_lanes = t.value_lanes = lanes_, t.bf16 = bf16_, t.in_matrix_tiles = true;
    else
      multiply_bf16(t);
    return t;
  }

  // Lanes of features hold two each then.
  void multiply_bf16(attention_tile &t) const {
    if (!bf16_ || machine_.of_bf16.products == 0) return;
    const int lanes =
        t.keys_in_lanes() ? lanes_dividing(bf16_->product.features / 2, features_) : 0;
    if (t.keys_in_lanes() && lanes < least_features) return;
    t.feature_lanes = lanes, t.bf16 = bf16_;
  }

  const program &p_;
  const attention_stage &s_;
  const bool is_of_gradient_;  // no call of it decodes: forms for few rows would be a third of it
  const machine &machine_;
  const std::optional<tensor_form> bf16_;
  const int lanes_;
  const bool pads_;  // vectors that features or columns do not fill
  const int features_;
  const std::vector<axis_id> folded_;
};

}  // namespace

std::vector<attention_tile> attention_tiles_for(const machine &m, const plan &made,
                                                const attention_stage &s) {
  if (!m.is_host()) return {gpu_tile(m, made.p, s)};
  return cpu_tiling(m, made, s).run();
}

}  // namespace qkv::codegen
