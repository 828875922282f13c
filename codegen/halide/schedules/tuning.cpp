#include "codegen/halide/schedules/tuning.hpp"

#include <algorithm>
#include <set>

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
  t.rows = s.rows, t.keys = s.keys, t.threads_x = s.threads_x, t.threads_y = s.threads_y,
  t.staged = staged;
  std::int64_t wanted = columns < 0 ? 8 : (columns + s.threads_x - 1) / s.threads_x;
  if (wanted > 8)
    wanted =
        wanted > 16 && columns > s.threads_x * m.gpu.columns_per_thread ? 16 : (wanted + 1) / 2 * 2;
  t.columns_per_thread =
      static_cast<int>(std::clamp<std::int64_t>(wanted, 1, m.gpu.columns_per_thread));
  t.column_blocks = columns < 0 || columns > s.threads_x * t.columns_per_thread;
  return t;
}

std::int64_t floats_shared(const attention_tile &t, const state_size &z, std::int64_t features) {
  const std::int64_t operands = t.staged ? (t.rows + t.keys) * features : 0;
  return operands + z.sums * t.keys * t.threads_x * t.columns_per_thread +
         z.distinct_pairs * t.rows * t.keys + t.rows * ((2 + z.per_row) * t.threads_x + 1);
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
  return a == no_axis ? 1 : p.axes[p.axes[a].root].size;
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

attention_tile gpu_tile(const machine &m, const program &p, const attention_stage &s) {
  std::int64_t features = 0;
  for (node_id d : s.products) {
    std::int64_t product = 1;
    for (axis_id a : p[d].over)
      product = known_size(p, a) < 0 || product < 0 ? -1 : product * known_size(p, a);
    features = product < 0 || features < 0 ? -1 : features + product;
  }
  const bool has_row = s.row != no_axis;
  const auto shapes =
      m.shapes_for(has_row ? known_size(p, s.row) : std::int64_t{attention_shape::none});
  attention_tile t = first_that_fits(m, shapes, size_of_state(p, s), features);
  if (!has_row) t.column_blocks |= s.outer.empty();  // a grid needs an axis
  return t;
}

attention_tile cpu_tile(const machine &m, const program &p, const attention_stage &s) {
  const attention_shape shape = m.shapes_for(known_size(p, s.row)).front();
  attention_tile t;
  t.rows = shape.rows, t.keys = shape.keys, t.per_task = shape.per_task;
  return t;
}

}  // namespace

attention_tile attention_tile_for(const machine &m, const program &p, const attention_stage &s) {
  return m.is_host() ? cpu_tile(m, p, s) : gpu_tile(m, p, s);
}

}  // namespace qkv::codegen
