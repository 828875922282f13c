// SPDX-License-Identifier: BSL-1.0
// describe K --ranks N: what a kernel costs on many machines, from the costs of its parts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <qkv/core/dtype.hpp>
#include <string_view>

#include "ring/forecast.hpp"
#include "ring/parts.hpp"
#include "tool/commands.hpp"

namespace qkv::tool {
namespace {

class ranks_report {
 public:
  ranks_report(const request &r, const kernel_sizes &sizes) : r_(r), k_(*r.kernel), sizes_(sizes) {
    if (status s = ring::parts::of(k_, of_); !s) throw refusal(s.text());
    for (std::size_t n = 0; n < of_.own.size(); ++n) rounds_.push_back(round(n));
    if (!r.spec || !r.spec->cost) throw refusal("this tool was made without costs");
    // Pairs that a mask hides are not computed: the kernel's own cost knows them.
    double own = 0;
    for (const ring::round_work &w : rounds_) own += w.own_flops;
    double counted = 0;
    for (const ring::round_work &w : rounds_) counted += w.pair_flops;
    const double pairs = std::max(0.0, r.spec->cost(sizes_.by_name()).flops - own);
    for (ring::round_work &w : rounds_) w.pair_flops *= counted > 0 ? pairs / counted : 0;
    is_tree_ = can_merge() && ring::predicted_tree(rounds_, facts_, r.ranks).seconds <
                                  ring::predicted(rounds_, facts_, r.ranks).seconds;
  }

  std::string text() const {
    std::string travelling = fmt::format("{}", fmt::join(travels_, ", "));
    std::string t = fmt::format("{} on many machines: {}\n", k_.name, sizes_.text());
    t += fmt::format("  computed, not measured: {} a machine, a link of {}, {:.3g} us a message\n",
                     of_units(facts_.flops, "flop/s"), of_units(facts_.link, "B/s"),
                     facts_.latency * 1e6);
    t += is_tree_
             ? fmt::format(
                   "  few queries: every machine has all, keys stay ({}), states merge in a tree\n",
                   travelling)
             : fmt::format("  travels with the keys: {}\n", travelling);
    if (!comes_home_.empty())
      t += fmt::format("  comes home with them: {}\n", fmt::join(comes_home_, ", "));
    if (!totals_.empty()) t += fmt::format("  added up over all: {}\n", fmt::join(totals_, ", "));
    t += fmt::format("\n  {:>8} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10} {:>10} {:>10}\n",
                     "machines", of_.key + " each", "turn", "message", "transfer", "hidden",
                     "memory", "time", "efficiency");
    for (int n = 1; n <= r_.ranks; n = next(n)) t += line(n);
    return t;
  }

 private:
  bool can_merge() const {
    return std::any_of(of_.merges.begin(), of_.merges.end(), [](const auto *m) { return m; });
  }
  int next(int n) const { return n < r_.ranks && 2 * n > r_.ranks ? r_.ranks : 2 * n; }

  std::string line(int n) const {
    const ring::forecast f =
        (is_tree_ ? ring::predicted_tree : ring::predicted)(rounds_, facts_, n);
    const double keys = static_cast<double>(size(of_.key)) / n;
    return fmt::format(
        "  {:>8} {:>10.0f} {:>10} {:>10} {:>10} {:>6.0f} % {:>10} {:>10} {:>8.1f} %\n", n, keys,
        of_units(f.turn, "s"), of_units(n > 1 ? f.message : 0, "B"), of_units(f.transfer, "s"),
        100 * f.hidden, of_units(f.memory, "B"), of_units(f.seconds, "s"), 100 * f.efficiency);
  }

  // "1.20 TB/s", "34.0 ms"
  static std::string of_units(double x, const char *unit) {
    constexpr std::string_view prefixes = "pnum kMGTPE";
    if (!(x > 0)) return fmt::format("0 {}", unit);
    const int step = std::clamp(static_cast<int>(std::floor(std::log10(x) / 3)), -4, 6);
    const char prefix = prefixes[static_cast<std::size_t>(step + 4)];
    return fmt::format("{:.3g} {}{}", x / std::pow(1000, step),
                       prefix == ' ' ? "" : std::string(1, prefix), unit);
  }

  std::int64_t size(std::string_view axis) const {
    for (int a = 0; a < k_.n_axes; ++a)
      if (axis == k_.axes[a].name) return sizes_.of(a);
    return 1;
  }
  double bytes(const qkv_kernel &part, const qkv_argument &a) const {
    double n = static_cast<double>(size_of(static_cast<dtype>(a.dtype)));
    for (int d = 0; d < a.rank; ++d) {
      const qkv_axis &axis = part.axes[a.axes[d]];
      n *= static_cast<double>(axis.size >= 0 ? axis.size : size(axis.name));
    }
    return n;
  }
  double flops(const qkv_kernel *part) const {
    if (!part) return 0;
    for (const entry &e : *r_.entries)
      if (e.name == part->name && e.cost) {
        kernel_sizes s(*part);
        for (int a = 0; a < part->n_axes; ++a)
          if (part->axes[a].root == a && part->axes[a].size < 0) s.set(a, size(part->axes[a].name));
        return e.cost(s.by_name()).flops;
      }
    return 0;
  }

  ring::round_work round(std::size_t n) {
    ring::round_work w;
    const qkv_kernel *own = of_.own[n], *hop = n < of_.hops.size() ? of_.hops[n] : nullptr;
    w.own_flops = flops(own);
    w.pair_flops = flops(hop);
    if (own)
      for (int i = 0; i < own->n_arguments; ++i)
        if (ring::is_total(own->arguments[i])) add_total(w, *own, own->arguments[i]);
    for (int i = 0; hop && i < hop->n_arguments; ++i) {
      const qkv_argument &a = hop->arguments[i];
      const bool of_keys = ring::has_axis(*hop, a, of_.key) && !ring::has_axis(*hop, a, of_.query);
      if (a.role != QKV_OUT) {
        if (of_keys) w.key_bytes += bytes(*hop, a), travels_.emplace_back(a.name);
        continue;
      }
      if (of_keys)
        w.sum_bytes += bytes(*hop, a), comes_home_.emplace_back(a.name);
      else if (ring::has_axis(*hop, a, of_.query))
        w.state_bytes += bytes(*hop, a);
      else
        add_total(w, *hop, a);
    }
    return w;
  }
  void add_total(ring::round_work &w, const qkv_kernel &part, const qkv_argument &a) {
    w.total_bytes += bytes(part, a);
    totals_.emplace_back(a.name);
  }

  const request &r_;
  const qkv_kernel &k_;
  const kernel_sizes &sizes_;
  ring::parts of_;
  const ring::hardware facts_{r_.peak > 0 ? r_.peak : 1e12, r_.link > 0 ? r_.link : 12.5e9,
                              r_.latency, r_.bandwidth};
  bool is_tree_ = false;
  std::vector<ring::round_work> rounds_;
  std::vector<std::string> travels_, comes_home_, totals_;
};

}  // namespace

void describe_ranks(const request &r) {
  kernel_sizes sizes = r.sizes_asked();
  sizes.complete_with(8192);
  fmt::print("{}", ranks_report(r, sizes).text());
}

}  // namespace qkv::tool
