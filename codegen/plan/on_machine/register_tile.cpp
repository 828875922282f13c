// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/on_machine/register_tile.hpp"

#include <algorithm>

#include "codegen/plan/on_machine/attention_tile.hpp"

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

// The rows whose sums fit the registers beside the vectors of values and a pair. Sums of a single
// row that do not fit cost less, in the first cache, than values that are read from memory in
// parts.
int rows_for(const cpu_tiles &m, int vectors, int rows) {
  const int fit = std::min(m.sum_registers, m.registers - 1 - vectors) / vectors;
  return rows == 1 ? 1 : fit == 0 ? 0 : divisor_up_to(rows, fit);
}

}  // namespace

register_tile register_tile_of(const cpu_tiles &m, std::optional<int> columns, int rows,
                               int lanes) {
  register_tile best;
  best.columns = columns;
  best.lanes = columns ? lanes_dividing(*columns, lanes) : lanes;
  const int all = columns ? *columns / best.lanes : 1;
  const int bytes = m.register_bits / 8 * best.lanes / lanes;  // of a vector
  register_tile t = best;
  t.vectors = std::min(all, std::max(m.sum_registers, rows == 1 ? m.values.bytes / bytes : 0));
  for (; t.vectors > 0; --t.vectors) {
    t.rows = all % t.vectors == 0 ? rows_for(m, t.vectors, rows) : 0;
    if (t.rows > 0 && (best.vectors == 0 || has_fewer_loads(t, best))) best = t;
  }
  return best;
}

}  // namespace qkv::codegen
