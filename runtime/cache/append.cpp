// SPDX-License-Identifier: BSL-1.0
#include <qkv/append.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "memory/layout.hpp"
#include "memory/overlap.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

constexpr const char *kinds[] = {"keys", "values"};
constexpr std::int64_t most_elements = std::int64_t{1} << 55;  // their bytes fit 64 bits

std::int64_t offset(const qkv_tensor &t, const std::int64_t *at) {
  std::int64_t o = 0;
  for (int d = 0; d < t.rank; ++d) o += at[d] * t.stride[d];
  return o;
}

}  // namespace

void copy_slots(const qkv_tensor &to, const qkv_tensor &from, int axis, const slot_run &r) {
  const std::int64_t bytes = size_of(static_cast<dtype>(to.dtype));
  const int inner = to.rank - 1;
  std::int64_t at[QKV_MAX_RANK] = {}, end[QKV_MAX_RANK] = {};
  for (int d = 0; d < to.rank; ++d) end[d] = d == 0 ? 1 : d == axis ? r.n : from.extent[d];
  if (std::any_of(end, end + to.rank, [](std::int64_t e) { return e == 0; })) return;
  const std::int64_t together = axis == inner ? 1 : end[inner];
  for (;;) {
    std::int64_t there[QKV_MAX_RANK], here[QKV_MAX_RANK];
    std::copy_n(at, to.rank, there);
    std::copy_n(at, to.rank, here);
    here[0] = r.from_entry, here[axis] += r.from_slot;
    there[0] = r.to_entry, there[axis] += r.to_slot;
    std::memcpy(static_cast<char *>(to.data) + offset(to, there) * bytes,
                static_cast<const char *>(from.data) + offset(from, here) * bytes,
                static_cast<std::size_t>(together * bytes));
    int d = axis == inner ? inner : inner - 1;
    while (d > 0 && ++at[d] == end[d]) at[d--] = 0;
    if (d <= 0) return;
  }
}

status check_truncate(const slots_view &v, std::int64_t entry, std::int64_t length) {
  if (entry < 0 || entry >= v.entries)
    return fail(status_code::wrong_extent, "{}: there is no entry {}: it has {}", v.name, entry,
                v.entries);
  if (v.used.empty()) return no_memory_for_notes(v.name);
  const std::int32_t used = v.used[static_cast<std::size_t>(entry)];
  if (length < 0 || length > used)
    return fail(status_code::wrong_extent,
                "{}: entry {} holds {} positions and cannot be cut to {}", v.name, entry, used,
                length);
  return {};
}

status no_memory_for_notes(const char *name) {
  return fail(status_code::out_of_memory, "{}: out of memory for the lengths of its entries", name);
}

std::int64_t product_of_extents(std::int64_t a, std::int64_t b) {
  return a <= 0 || b <= 0 ? 0 : product(a, b);
}

std::int64_t rows_of_entry(const row_counts &counts, const qkv_tensor &rows, int axis,
                           std::int64_t entry) {
  return counts ? (*counts)[static_cast<std::size_t>(entry)] : rows.extent[axis];
}

namespace {

// Checks that rows lie in readable memory, apart from the cache's own.
status check_memory(const slots_view &v, const char *kind, const qkv_tensor &r, const axes &shape,
                    const qkv_tensor (&store)[2]) {
  if (empty(r)) return {};
  std::int64_t span = 1;
  for (int d = 0; d < r.rank; ++d) {
    if (r.extent[d] == 1) continue;
    if (r.stride[d] < 0)
      return fail(status_code::wrong_stride,
                  "{}: the stride of axis {} of the new {} is negative: {}", v.name,
                  shape.a[d]->name, kind, r.stride[d]);
    if (!widen(span, r.extent[d], r.stride[d]) || span > most_elements)
      return fail(status_code::too_large, "{}: the new {} end beyond the address space", v.name,
                  kind);
  }
  const int innermost = r.rank - 1;
  if (innermost != v.axis && r.extent[innermost] > 1 && r.stride[innermost] != 1)
    return fail(status_code::wrong_stride, "{}: the innermost stride of the new {} must be 1",
                v.name, kind);
  if (!r.data) return fail(status_code::null_data, "{}: the new {} have no data", v.name, kind);
  for (const qkv_tensor &own : store)
    if (!empty(own) && overlap(r, own))
      return fail(status_code::overlap, "{}: the new {} lie in the cache's own memory", v.name,
                  kind);
  return {};
}

status check_counts(const slots_view &v, std::span<const std::int32_t> counts) {
  if (static_cast<std::int64_t>(counts.size()) != v.entries)
    return fail(status_code::wrong_count, "{}: {} counts given for {} entries", v.name,
                counts.size(), v.entries);
  if (counts.empty()) return {};
  if (!counts.data()) return fail(status_code::null_data, "{}: the counts have no data", v.name);
  const std::less<> before;
  const std::int32_t *end = counts.data() + counts.size();
  if (before(counts.data(), v.used.data() + v.used.size()) && before(v.used.data(), end))
    return fail(status_code::overlap, "{}: the counts lie in the cache's own lengths", v.name);
  return {};
}

}  // namespace

status check_append(const slots_view &v, const qkv_tensor (&store)[2], const qkv_tensor (&rows)[2],
                    const axes *const (&shapes)[2], const row_counts &counts) {
  const std::int64_t added = rows[0].extent[v.axis];
  if (v.entries < 0 || v.capacity < 0)
    return fail(status_code::wrong_extent, "{}: it was made for {} entries of {} positions", v.name,
                v.entries, v.capacity);
  if (v.entries > 0 && v.used.empty()) return no_memory_for_notes(v.name);
  for (int k : {0, 1}) {
    const qkv_tensor &r = rows[k], &s = store[k];
    if (r.device != QKV_HOST)
      return fail(status_code::wrong_device, "{}: the new {} are not on the host", v.name,
                  kinds[k]);
    for (int d = 0; d < r.rank; ++d) {
      const std::int64_t wanted = d == 0 ? v.entries : d == v.axis ? added : s.extent[d];
      if (r.extent[d] != wanted || wanted < 0)
        return fail(status_code::wrong_extent, "{}: axis {} of the new {} is {} but must be {}",
                    v.name, shapes[k]->a[d]->name, kinds[k], r.extent[d],
                    std::max<std::int64_t>(wanted, 0));
    }
    if (!s.data && !empty(s))
      return fail(status_code::out_of_memory, "{}: its own {} have no memory", v.name, kinds[k]);
    if (status m = check_memory(v, kinds[k], r, *shapes[k], store); !m) return m;
  }
  if (counts) {
    if (status s = check_counts(v, *counts); !s) return s;
  }
  // lengths are noted in 32 bits
  const std::int64_t room =
      std::min<std::int64_t>(v.capacity, std::numeric_limits<std::int32_t>::max());
  for (std::int64_t e = 0; e < v.entries; ++e) {
    const std::int64_t n = rows_of_entry(counts, rows[0], v.axis, e),
                       used = v.used[static_cast<std::size_t>(e)];
    if (n < 0 || n > added)
      return fail(status_code::wrong_count, "{}: entry {} is to take {} of {} new positions",
                  v.name, e, n, added);
    if (n > room - used)
      return fail(status_code::cache_full,
                  "{}: entry {} holds {} of {} positions; {} more do not fit", v.name, e, used,
                  room, n);
  }
  return {};
}

}  // namespace qkv::detail
