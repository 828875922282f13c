// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/peak.hpp"

#include <algorithm>

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

}  // namespace

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
  return peak_of(memory_of(made, all), all);
}

}  // namespace qkv::codegen
