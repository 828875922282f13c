// SPDX-License-Identifier: BSL-1.0
#include "call/pack.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <qkv/core/dtype.hpp>
#include <span>
#include <vector>

#include "memory/layout.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

using positions = std::span<const std::int32_t>;

// Number of elements of a group as compiled code sees it: an empty axis has one position, of zeros.
// Saturates.
std::int64_t count(const qkv_tensor &t, positions group) {
  std::int64_t n = 1;
  for (int d : group) n = product(n, std::max<std::int64_t>(1, t.extent[d]));
  return n;
}

// Offsets of the elements of a group, row-major over its axes.
std::vector<std::int64_t> offsets(const qkv_tensor &t, positions group) {
  std::vector<std::int64_t> all{0};
  for (int d : group) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(t.extent[d]));
    for (std::int64_t base : all) {
      for (std::int64_t i = 0; i < t.extent[d]; ++i) next.push_back(base + i * t.stride[d]);
    }
    all.swap(next);
  }
  return all;
}

// Visits every row of every panel: the offset of the row in the tensor, the further offsets of its
// columns, and the position of the first column in the panels.
template <class Use>
void each_row(const qkv_tensor &t, const qkv_pack &p, Use use) {
  const auto outer = offsets(t, {p.outer, static_cast<std::size_t>(p.n_outer)});
  const auto rows = offsets(t, {p.rows, static_cast<std::size_t>(p.n_rows)});
  const auto columns = offsets(t, {p.columns, static_cast<std::size_t>(p.n_columns)});
  const auto panel = static_cast<std::size_t>(p.panel);
  std::size_t at = 0;
  for (std::int64_t o : outer) {
    for (std::size_t block = 0; block < columns.size(); block += panel) {
      const std::size_t width = std::min(panel, columns.size() - block);
      for (std::int64_t r : rows) {
        use(o + r, std::span(columns).subspan(block, width), at);
        at += panel;
      }
    }
  }
}

// Calls `use` with an integer that is as wide as an element.
template <class Use>
void with_bits(int dtype_of_elements, Use use) {
  switch (size_of(static_cast<dtype>(dtype_of_elements))) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

}  // namespace

status measure(const qkv_kernel &k, const qkv_pack &p, const qkv_tensor &t, panels &result) {
  const std::int64_t rows = count(t, {p.rows, static_cast<std::size_t>(p.n_rows)});
  const std::int64_t columns = count(t, {p.columns, static_cast<std::size_t>(p.n_columns)});
  const std::int64_t blocks = (columns - 1) / p.panel + 1;
  std::int64_t elements = product(rows, product(blocks, p.panel));
  result.rank = 0;
  for (int i = 0; i < p.n_outer; ++i) {
    const auto e = static_cast<std::int32_t>(std::max<std::int64_t>(1, t.extent[p.outer[i]]));
    result.extent[result.rank++] = e;
    elements = product(elements, e);
  }
  if (elements > std::numeric_limits<std::int32_t>::max()) {
    return fail(status_code::too_large, "{}: {} packed has {} elements", k.name,
                k.arguments[p.argument].name, elements);
  }
  for (std::int64_t e : {blocks, rows, std::int64_t{p.panel}}) {
    result.extent[result.rank++] = static_cast<std::int32_t>(e);
  }
  result.bytes = static_cast<std::size_t>(elements) *
                 static_cast<std::size_t>(size_of(static_cast<dtype>(t.dtype)));
  return {};
}

void write_panels(const qkv_pack &p, const qkv_tensor &t, const panels &layout, void *to) {
  if (empty(t)) {
    std::memset(to, 0, layout.bytes);
    return;
  }
  with_bits(t.dtype, [&]<class Bits>(Bits) {
    each_row(t, p, [&](std::int64_t row, std::span<const std::int64_t> columns, std::size_t at) {
      const Bits *from = static_cast<const Bits *>(t.data) + row;
      Bits *out = static_cast<Bits *>(to) + at;
      for (std::int64_t c : columns) *out++ = from[c];
      std::fill_n(out, static_cast<std::size_t>(p.panel) - columns.size(), Bits{});
    });
  });
}

}  // namespace qkv::detail
