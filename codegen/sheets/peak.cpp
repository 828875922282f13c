// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/peak.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"
#include "codegen/sheets/cost.hpp"

namespace qkv::codegen {
namespace {

constexpr std::int64_t usual_size = 512;  // as `bench` of the tool has it

// The first and the last sweep that has a buffer in use.
struct lifetime {
  std::size_t first = 0, last = 0;
  bool is_used = false;
};

std::vector<lifetime> lifetimes_of(const call_memory &m) {
  std::vector<lifetime> all(m.buffers.size());
  for (std::size_t k = 0; k < m.sweeps.size(); ++k)
    for (const std::vector<int> *list : {&m.sweeps[k].writes, &m.sweeps[k].reads})
      for (const int b : *list) {
        lifetime &l = all[static_cast<std::size_t>(b)];
        if (!l.is_used) l.first = k;
        l.last = k;
        l.is_used = true;
      }
  return all;
}

// Memory that a part takes while it runs: a chunk, for one position of the outer axes.
peak peak_of_part(const plan &part, const chunks &c, bool is_of_chunk,
                  std::vector<std::int64_t> size) {
  if (is_of_chunk) {
    size[c.along] = std::min<std::int64_t>(size[c.along], positions_of_chunk);
    for (const axis_id a : c.outer) size[a] = 1;
  }
  peak most = peak_of(memory_of(part, size), size);
  if (is_of_chunk) {
    most.bytes = most.bytes.at(c.along, static_cast<double>(size[c.along]));
    for (const axis_id a : c.outer) most.bytes = most.bytes.at(a, 1);
  }
  return most;
}

int last_scan(const plan &made) {
  int last = -1, at = 0;
  for (const stage &s : made.cut.list) {
    if (std::holds_alternative<scan_stage>(s)) last = at;
    ++at;
  }
  return last;
}

peak peak_by_chunks(const plan &made, const std::vector<std::int64_t> &size) {
  formula most;
  for (std::size_t k = 0; k < made.parts.size(); ++k) {
    const peak one =
        peak_of_part(made.parts[k], *made.by_chunks, made.by_chunks->parts[k].is_of_chunk, size);
    if (one.bytes.value(size).value_or(0) > most.value(size).value_or(0)) most = one.bytes;
  }
  formula all = between_parts(*made.by_chunks);
  all += most;
  return {all, last_scan(made)};
}

}  // namespace

formula between_parts(const chunks &c) {
  formula all;
  for (const temporary &t : c.temporaries) {
    const double bytes = size_of(t.type);
    all += formula(bytes, t.shape);
    if (t.is_at_bounds) all += formula(bytes / positions_of_chunk, with(t.shape, {c.along}));
  }
  return all;
}

peak peak_of(const call_memory &m, const std::vector<std::int64_t> &size) {
  const std::vector<lifetime> lives = lifetimes_of(m);
  peak greatest;
  double most = 0;
  for (std::size_t k = 0; k < m.sweeps.size(); ++k) {
    formula bytes;
    for (std::size_t b = 0; b < lives.size(); ++b)
      if (lives[b].is_used && lives[b].first <= k && k <= lives[b].last) bytes += m.buffers[b];
    const double value = bytes.value(size).value_or(0);
    if (value <= most) continue;
    most = value;
    greatest = {bytes, m.sweeps[k].stage};
  }
  return greatest;
}

peak peak_of(const plan &made, const std::vector<std::int64_t> &size) {
  std::vector<std::int64_t> all = size;
  for (std::size_t a = 0; a < all.size(); ++a)
    if (all[a] < 0) all[a] = made.p.axes[made.p.axes[a].root].batch ? 1 : usual_size;
  return made.by_chunks ? peak_by_chunks(made, all) : peak_of(memory_of(made, all), all);
}

}  // namespace qkv::codegen
