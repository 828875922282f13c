#include "codegen/halide/schedules/tuning_gpu.hpp"

#include <algorithm>

namespace qkv::codegen {
namespace {

// Every driver grants this much without being asked.
constexpr int shared_memory = 47 * 1024 / 4;  // floats; the system keeps one of 48 KB

struct shape {
  int rows, keys, threads_x, threads_y;
};
constexpr shape many_rows[] = {{64, 32, 8, 16}, {64, 16, 8, 16}, {32, 16, 8, 16},
                               {16, 16, 8, 16}, {16, 8, 8, 8},   {8, 8, 8, 8}};
constexpr shape one_row[] = {{1, 64, 32, 1}, {1, 32, 32, 1}};

// Two rows of 18 columns (128 and the logsumexp, divided evenly among 8 threads) or four of 9.
constexpr int most_columns_per_thread = 18;

attention_tile tile_of(const shape &s, std::int64_t columns, bool staged) {
  attention_tile t;
  t.rows = s.rows, t.keys = s.keys, t.threads_x = s.threads_x, t.threads_y = s.threads_y,
  t.staged = staged;
  std::int64_t wanted = columns < 0 ? 8 : (columns + s.threads_x - 1) / s.threads_x;
  if (wanted > 8)
    wanted =
        wanted > 16 && columns > s.threads_x * most_columns_per_thread ? 16 : (wanted + 1) / 2 * 2;
  t.columns_per_thread =
      static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most_columns_per_thread));
  t.column_blocks = columns < 0 || columns > s.threads_x * t.columns_per_thread;
  return t;
}

std::int64_t floats_shared(const attention_tile &t, std::int64_t features) {
  const std::int64_t operands = t.staged ? (t.rows + t.keys) * features : 0;
  return operands + t.keys * t.threads_x * t.columns_per_thread + t.rows * t.keys +
         t.rows * (2 * t.threads_x + 1);
}

template <std::size_t N>
attention_tile first_that_fits(const shape (&shapes)[N], std::int64_t columns,
                               std::int64_t features) {
  if (features >= 0)
    for (const shape &s : shapes)
      if (attention_tile t = tile_of(s, columns, true); floats_shared(t, features) <= shared_memory)
        return t;
  for (const shape &s : shapes)
    if (attention_tile t = tile_of(s, columns, false); floats_shared(t, 0) <= shared_memory)
      return t;
  return tile_of(shapes[N - 1], columns, false);
}

std::int64_t known_size(const program &p, axis_id a) {
  return a == no_axis ? 1 : p.axes[p.axes[a].root].size;
}

}  // namespace

attention_tile gpu_attention_tile(const program &p, const attention_stage &s) {
  std::int64_t features = 0;
  for (node_id d : s.score_dots) {
    std::int64_t product = 1;
    for (axis_id a : p[d].over)
      product = known_size(p, a) < 0 || product < 0 ? -1 : product * known_size(p, a);
    features = product < 0 || features < 0 ? -1 : features + product;
  }
  std::int64_t columns = known_size(p, s.column);
  if (columns >= 0 && s.lse >= 0) ++columns;
  if (s.row != no_axis) return first_that_fits(many_rows, columns, features);
  attention_tile t = first_that_fits(one_row, columns, features);
  t.column_blocks |= s.outer.empty();  // a grid needs an axis
  return t;
}

}  // namespace qkv::codegen
