// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/on_machine/register_tile.hpp"

#include <algorithm>

namespace qkv::codegen {

int divisor_up_to(int n, int most) {
  int d = most;
  while (n % d) --d;
  return d;
}

namespace {

// A step along the keys loads the vectors and a number of each row; all products of a tile read
// them.
bool has_fewer_loads(const register_tile &a, const register_tile &b) {
  return (a.vectors + a.rows) * b.vectors * b.rows < (b.vectors + b.rows) * a.vectors * a.rows;
}

}  // namespace

std::optional<value_reads> value_reads_of(const cpu_tiles &m, const attention_tile &t) {
  if (!t.keys_in_lanes()) return std::nullopt;
  return value_reads{.least_rows = 2, .least_bytes = t.per_task == 1 ? m.values.bytes : 0};
}

register_tile register_tile_of(const cpu_tiles &m, std::optional<int> columns, int rows, int lanes,
                               const std::optional<value_reads> &reads) {
  register_tile best;
  best.columns = columns;
  best.lanes = columns ? lanes_dividing(*columns, lanes) : lanes;
  const int all = columns ? *columns / best.lanes : 1;
  if (reads) {
    const int bytes = m.register_bits / 8 * best.lanes / lanes;  // of a vector
    const int shared = std::max(1, m.sum_registers / std::min(rows, reads->least_rows));
    const int wanted = std::max(shared, reads->least_bytes / bytes);
    // Sums of a single row that do not fit the registers cost less, in the first cache, than values
    // that are read from memory in parts.
    best.vectors = divisor_up_to(all, rows == 1 ? wanted : std::min(m.sum_registers, wanted));
    best.rows = divisor_up_to(rows, std::max(1, m.sum_registers / best.vectors));
    return best;
  }
  register_tile t = best;
  for (t.vectors = std::min(all, m.sum_registers); t.vectors > 0; --t.vectors) {
    // Beside the sums, registers hold the vectors of values and a pair.
    const int fit = std::min(m.sum_registers, m.registers - 1 - t.vectors) / t.vectors;
    if (all % t.vectors != 0 || fit == 0) continue;
    t.rows = divisor_up_to(rows, fit);
    if (best.vectors == 0 || has_fewer_loads(t, best)) best = t;
  }
  return best;
}

}  // namespace qkv::codegen
