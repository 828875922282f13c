#include <qkv/paged_kv_cache.hpp>

#include <algorithm>
#include <cstring>

#include "check.hpp"
#include "fail.hpp"

namespace qkv::detail {
namespace {

constexpr const char *kinds[] = {"keys", "values"};

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
  const auto entries = static_cast<std::int64_t>(v.used.size());
  if (entry < 0 || entry >= entries)
    return fail(status_code::wrong_extent, "{}: there is no entry {}: it has {}", v.name, entry,
                entries);
  if (length < 0 || length > v.used[static_cast<std::size_t>(entry)])
    return fail(status_code::wrong_extent,
                "{}: entry {} holds {} positions and cannot be cut to {}", v.name, entry,
                v.used[static_cast<std::size_t>(entry)], length);
  return {};
}

status no_page(std::int64_t needed, std::int64_t left) {
  return fail(status_code::cache_full, "paged_kv_cache: {} pages are needed, {} are free", needed,
              left);
}

status no_memory_for_lengths(const char *name) {
  return fail(status_code::out_of_memory, "{}: no memory to note its lengths in", name);
}

std::int32_t rows_of_entry(const row_counts &counts, const qkv_tensor &rows, int axis,
                           std::int64_t entry) {
  return counts ? (*counts)[static_cast<std::size_t>(entry)]
                : static_cast<std::int32_t>(rows.extent[axis]);
}

status check_append(const slots_view &v, const qkv_tensor (&store)[2], const qkv_tensor (&rows)[2],
                    const row_counts &counts) {
  const auto entries = static_cast<std::int64_t>(v.used.size());
  const std::int64_t added = rows[0].extent[v.axis];
  for (int k : {0, 1}) {
    const qkv_tensor &r = rows[k], &s = store[k];
    if (r.device != QKV_HOST)
      return fail(status_code::wrong_device, "{}: the new {} are not on the host", v.name,
                  kinds[k]);
    for (int d = 0; d < r.rank; ++d) {
      const std::int64_t wanted = d == 0 ? entries : d == v.axis ? added : s.extent[d];
      if (r.extent[d] != wanted)
        return fail(status_code::wrong_extent, "{}: axis {} of the new {} is {} but must be {}",
                    v.name, d, kinds[k], r.extent[d], wanted);
    }
    const std::int64_t innermost = r.rank - 1;
    if (innermost != v.axis && r.extent[innermost] > 1 && r.stride[innermost] != 1)
      return fail(status_code::wrong_stride, "{}: the innermost stride of the new {} must be 1",
                  v.name, kinds[k]);
    if (!s.data && !empty(s))
      return fail(status_code::out_of_memory, "{}: its own {} have no memory", v.name, kinds[k]);
    if (!r.data && !empty(r))
      return fail(status_code::null_data, "{}: the new {} have no data", v.name, kinds[k]);
  }
  if (counts && static_cast<std::int64_t>(counts->size()) != entries)
    return fail(status_code::wrong_count, "{}: {} counts given for {} entries", v.name,
                counts->size(), entries);
  for (std::int64_t e = 0; e < entries; ++e) {
    const std::int64_t n = rows_of_entry(counts, rows[0], v.axis, e),
                       used = v.used[static_cast<std::size_t>(e)];
    if (n < 0 || n > added)
      return fail(status_code::wrong_count, "{}: entry {} is to take {} of {} new positions",
                  v.name, e, n, added);
    if (used + n > v.capacity)
      return fail(status_code::cache_full,
                  "{}: entry {} holds {} of {} positions; {} more do not fit", v.name, e, used,
                  v.capacity, n);
  }
  return {};
}

}  // namespace qkv::detail
