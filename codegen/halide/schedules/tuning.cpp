#include "codegen/halide/schedules/tuning.hpp"

#include <algorithm>

namespace qkv::codegen {
namespace {

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

std::int64_t floats_shared(const attention_tile &t, std::int64_t features) {
  const std::int64_t operands = t.staged ? (t.rows + t.keys) * features : 0;
  return operands + t.keys * t.threads_x * t.columns_per_thread + t.rows * t.keys +
         t.rows * (2 * t.threads_x + 1);
}

attention_tile first_that_fits(const machine &m, const std::vector<attention_shape> &shapes,
                               std::int64_t columns, std::int64_t features) {
  const std::int64_t shared = m.gpu.shared_bytes / static_cast<std::int64_t>(sizeof(float));
  if (features >= 0)
    for (const attention_shape &s : shapes)
      if (attention_tile t = tile_of(m, s, columns, true); floats_shared(t, features) <= shared)
        return t;
  for (const attention_shape &s : shapes)
    if (attention_tile t = tile_of(m, s, columns, false); floats_shared(t, 0) <= shared) return t;
  return tile_of(m, shapes.back(), columns, false);
}

std::int64_t known_size(const program &p, axis_id a) {
  return a == no_axis ? 1 : p.axes[p.axes[a].root].size;
}

attention_tile gpu_tile(const machine &m, const program &p, const attention_stage &s) {
  std::int64_t features = 0;
  for (node_id d : s.score_dots) {
    std::int64_t product = 1;
    for (axis_id a : p[d].over)
      product = known_size(p, a) < 0 || product < 0 ? -1 : product * known_size(p, a);
    features = product < 0 || features < 0 ? -1 : features + product;
  }
  std::int64_t columns = known_size(p, s.column);
  if (columns >= 0 && s.lse >= 0) ++columns;
  const bool has_row = s.row != no_axis;
  const auto shapes =
      m.shapes_for(has_row ? known_size(p, s.row) : std::int64_t{attention_shape::none});
  attention_tile t = first_that_fits(m, shapes, columns, features);
  if (!has_row) t.column_blocks |= s.outer.empty();  // a grid needs an axis
  return t;
}

attention_tile cpu_tile(const machine &m, const program &p, const attention_stage &s) {
  const attention_shape shape = m.shapes_for(known_size(p, s.row)).front();
  const std::int64_t columns = known_size(p, s.column);
  attention_tile t;
  t.rows = shape.rows, t.keys = shape.keys, t.per_task = shape.per_task;
  if (m.cpu.value_columns > 0 && columns > 0 && columns % m.cpu.value_columns == 0)
    t.value_row = static_cast<int>(columns) + m.cpu.value_padding;
  return t;
}

}  // namespace

attention_tile attention_tile_for(const machine &m, const program &p, const attention_stage &s) {
  return m.is_host() ? cpu_tile(m, p, s) : gpu_tile(m, p, s);
}

}  // namespace qkv::codegen
