// bench K: the time of a call, and how near it is to the limit of the machine.
#include <fmt/format.h>
#include <qkv/device.hpp>
#include <qkv/run.hpp>

#include <algorithm>
#include <chrono>

#include "memory/dense.hpp"
#include "memory/layout.hpp"
#include "tool/commands.hpp"
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

}  // namespace

// The params are prepared once, as a program that cares for speed does. Turns of at least 2 ms, for
// a second in all.
void bench(const request &r) {
  const qkv_kernel &k = r.kernel;
  kernel_sizes s = r.sizes_asked();
  s.complete();
  for (int a = 0; a < k.n_axes; ++a) {
    if (s.known(a)) continue;
    s.set(a, std::string_view(k.axes[a].name) == "batch" ? 1 : 512);
    s.complete();
  }
  const std::vector<value> all = random_arguments(k, s, r.seed, lengths::full);
  std::vector<qkv_tensor> params, rest;
  for (int i = 0; i < k.n_arguments; ++i)
    (k.arguments[i].role == QKV_PARAM ? params : rest)
        .push_back(all[static_cast<std::size_t>(i)].descriptor());
  const options how = r.how();
  prepared p;
  if (status made = prepared::make(k, params, p, how); !made) throw refusal(made.text());
  const resident there(how, rest);
  const int threads = r.threads > 0 ? r.threads : qkv::threads();
  const auto call = [&] {
    if (status done = p.run(rest, how); !done) throw refusal(done.text());
  };

  auto begin = stopwatch::now();
  call();
  const double first = seconds_since(begin);
  fma_peak peak = measure_peak(threads);
  std::vector<double> turns;
  const auto start = stopwatch::now();
  while (turns.size() < 5 || (seconds_since(start) < 1 && turns.size() < 1000)) {
    int calls = 0;
    begin = stopwatch::now();
    do {
      call();
      ++calls;
    } while (seconds_since(begin) < 2e-3);
    turns.push_back(seconds_since(begin) / calls);
  }
  peak.gflops = std::max(peak.gflops, measure_peak(threads).gflops);
  std::sort(turns.begin(), turns.end());
  const double median = turns[turns.size() / 2];

  std::string text = fmt::format("{}  {}  {} thread{}  median {:.4g} ms  min {:.4g}  first {:.4g}",
                                 k.name, s.text(), threads, threads == 1 ? "" : "s", median * 1e3,
                                 turns.front() * 1e3, first * 1e3);
  if (r.spec && r.spec->cost) {
    const cost c = r.spec->cost(s.by_name());
    const double gflops = c.flops / median * 1e-9;
    text += fmt::format("  {:.1f} GFLOP/s  {:.1f} GB/s", gflops, c.bytes / median * 1e-9);
    if (peak.gflops > 0 && how.on == device::host)
      text += fmt::format("  {:.0f} % of the {} peak {:.1f}", 100 * gflops / peak.gflops, peak.isa,
                          peak.gflops);
  }
  fmt::print("{}\n", text);
}

}  // namespace qkv::tool
