// SPDX-License-Identifier: BSL-1.0
// bench K: the time of a call, and how near it is to the limit of the machine.
#include <fmt/format.h>
#include <qkv/device.hpp>
#include <qkv/run.hpp>
#include <qkv/workspace.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>

#include "memory/dense.hpp"
#include "memory/layout.hpp"
#include "tool/commands.hpp"
#include "tool/device_clock.hpp"
#include "tool/json.hpp"
#include "tool/peak.hpp"

namespace qkv::tool {
namespace {

using stopwatch = std::chrono::steady_clock;

double seconds_since(stopwatch::time_point begin) {
  return std::chrono::duration<double>(stopwatch::now() - begin).count();
}

// Arguments of a device lie in its memory: the kernel is measured, not the way there.
class resident {
 public:
  resident(const options &how, std::vector<qkv_tensor> &arguments) {
    if (how.on == device::host) return;
    for (qkv_tensor &t : arguments) {
      if (detail::empty(t)) continue;
      if (status s = detail::upload(how, t.data, t, memory_.emplace_back()); !s)
        throw refusal(s.text());
    }
  }

 private:
  std::vector<device_memory> memory_;
};

struct measured {
  int threads;
  double median, least, first;  // seconds
  fma_peak peak;
  std::size_t workspace;  // bytes besides arguments, results and packed params
};

void report(const request &r, const kernel_sizes &s, const measured &m) {
  const bool has_cost = r.spec && r.spec->cost;
  const cost c = has_cost ? r.spec->cost(s.by_name()) : cost{};
  const double gflops = c.flops_left_by_masks / m.median * 1e-9,
               gbytes = c.bytes_moved / m.median * 1e-9;
  // Where masks of data leave fewer pairs than are counted, a share of the peak would be too large.
  const bool has_peak =
      has_cost && m.peak.gflops > 0 && r.on == device::host && !c.has_masks_of_data;
  if (r.json) {
    json::object o;
    o.add("kernel", json::text(r.kernel->name))
        .add("sizes", json::sizes(s.by_name()))
        .add("threads", std::to_string(m.threads))
        .add("median_ms", json::number(m.median * 1e3))
        .add("min_ms", json::number(m.least * 1e3))
        .add("first_ms", json::number(m.first * 1e3))
        .add("workspace_bytes", std::to_string(m.workspace));
    if (has_cost)
      o.add("gflops", json::number(gflops)).add("gbytes_per_second", json::number(gbytes));
    if (has_peak) o.add("peak_gflops", json::number(m.peak.gflops));
    fmt::print("{}\n", o.text());
    return;
  }
  std::string text = fmt::format("{}  {}  {} thread{}  median {:.4g} ms  min {:.4g}  first {:.4g}",
                                 r.kernel->name, s.text(), m.threads, m.threads == 1 ? "" : "s",
                                 m.median * 1e3, m.least * 1e3, m.first * 1e3);
  if (has_cost) text += fmt::format("  {:.1f} GFLOP/s  {:.1f} GB/s", gflops, gbytes);
  if (has_peak)
    text += fmt::format("  {:.0f} % of the {} peak {:.1f}", 100 * gflops / m.peak.gflops,
                        m.peak.isa, m.peak.gflops);
  if (has_cost && c.has_masks_of_data) text += "  counting pairs that masks of data hide";
  if (m.workspace >= 50'000)
    text += fmt::format("  workspace {:.1f} MB", 1e-6 * static_cast<double>(m.workspace));
  fmt::print("{}\n", text);
}

// True if every tensor of floating numbers is f64.
bool computes_in_f64(const qkv_kernel &k) {
  const std::span all(k.arguments, static_cast<std::size_t>(k.n_arguments));
  const auto has = [&](int32_t type) {
    return std::ranges::any_of(all, [&](const auto &a) { return a.dtype == type; });
  };
  return has(QKV_F64) && !has(QKV_F32) && !has(QKV_BF16) && !has(QKV_F16);
}

// Seconds of a call in each of several turns of at least 2 ms, for a second in all.
std::vector<double> turns_of(const std::function<void()> &call) {
  std::vector<double> turns;
  const auto start = stopwatch::now();
  while (turns.size() < 5 || (seconds_since(start) < 1 && turns.size() < 1000)) {
    int calls = 0;
    const auto begin = stopwatch::now();
    do {
      call();
      ++calls;
    } while (seconds_since(begin) < 2e-3);
    turns.push_back(seconds_since(begin) / calls);
  }
  return turns;
}

}  // namespace

// The params are prepared once, as a program that cares for speed does. Calls on a GPU of CUDA are
// timed by its events, 30 after 10, as other libraries are.
void bench(const request &r) {
  const qkv_kernel &k = *r.kernel;
  r.require_machine();
  kernel_sizes s = r.sizes_asked();
  s.complete_with(512);
  const std::vector<value> all = random_arguments(k, s, r.seed, lengths::full);
  std::vector<qkv_tensor> params, rest;
  for (int i = 0; i < k.n_arguments; ++i)
    (k.arguments[i].role == QKV_PARAM ? params : rest)
        .push_back(all[static_cast<std::size_t>(i)].descriptor());
  options how = r.how();
  workspace memory;
  how.workspace = &memory;
  prepared p;
  if (status made = prepared::make(k, params, p, how); !made) throw refusal(made.text());
  const resident there(how, rest);
  const int threads = r.threads > 0 ? r.threads : qkv::threads();
  const auto call = [&](const qkv::options &with) {
    if (status done = p.run(rest, with); !done) throw refusal(done.text());
  };

  const auto begin = stopwatch::now();
  call(how);
  const double first = seconds_since(begin);
  const bool of_f64 = computes_in_f64(k);
  fma_peak peak = measure_peak(threads, of_f64);
  std::vector<double> turns = times_on_device(how, 10, 30, call);
  if (turns.empty()) turns = turns_of([&] { call(how); });
  peak.gflops = std::max(peak.gflops, measure_peak(threads, of_f64).gflops);
  std::sort(turns.begin(), turns.end());
  const double median = turns[turns.size() / 2];

  report(r, s, {threads, median, turns.front(), first, peak, memory.peak()});
}

}  // namespace qkv::tool
