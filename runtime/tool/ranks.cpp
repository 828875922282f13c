// SPDX-License-Identifier: BSL-1.0
// describe K --ranks N: what a kernel costs on many machines, from the costs of its parts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "ring/forecast.hpp"
#include "ring/work.hpp"
#include "tool/commands.hpp"
#include "tool/json.hpp"

namespace qkv::tool {
namespace {

class ranks_report {
 public:
  ranks_report(const request &r, const kernel_sizes &sizes) : r_(r), k_(*r.kernel), sizes_(sizes) {
    if (status s = ring::parts::of(k_, of_); !s) throw refusal(s.text());
    for (std::size_t n = 0; n < of_.own.size(); ++n) {
      rounds_.push_back(ring::work_of(of_, n, r.shared_by.ranks,
                                      [&](std::string_view axis) { return size(axis); }));
      rounds_.back().own_flops = flops(of_.own[n]);
      rounds_.back().pair_flops = n < of_.hops.size() ? flops(of_.hops[n]) : 0;
      rounds_.back().look_flops = n < of_.seen.size() ? flops(of_.seen[n]) : 0;
      ring::visit_tensors(of_, n, [&](ring::moved how, const qkv_kernel &, const qkv_argument &a) {
        names_[how].emplace_back(a.name);
      });
    }
    if (!r.spec || !r.spec->cost) throw refusal("this tool was made without costs");
    // Pairs that a mask hides are not computed: the kernel's own cost knows them.
    double own = 0;
    for (const ring::round_work &w : rounds_) own += w.own_flops;
    double counted = 0;
    for (const ring::round_work &w : rounds_) counted += w.pair_flops;
    const double pairs = std::max(0.0, r.spec->cost(sizes_.by_name()).flops_left_by_masks - own);
    for (ring::round_work &w : rounds_) w.pair_flops *= counted > 0 ? pairs / counted : 0;
    if (can_merge()) fits_.push_back(ring::schedule::tree);
    if (names(ring::moved::key_sums).empty()) fits_.push_back(ring::schedule::gather);
    const auto lacks_heads = [](const ring::round_work &w) {
      return w.pair_flops > 0 && w.heads < 1;
    };
    if (std::none_of(rounds_.begin(), rounds_.end(), lacks_heads))
      fits_.push_back(ring::schedule::heads);
    for (const ring::schedule other : fits_)
      if (of(other, r.shared_by.ranks).seconds < 0.9 * of(best_, r.shared_by.ranks).seconds)
        best_ = other;
  }

  std::string text() const {
    std::string t = fmt::format("{} on many machines: {}\n", k_.name, sizes_.text());
    t += fmt::format("  computed, not measured: {} a machine, a link of {}, {:.3g} us a message\n",
                     of_units(facts_.flops, "flop/s"), of_units(facts_.link, "B/s"),
                     facts_.latency * 1e6);
    t += fmt::format("  schedule {}\n", words());
    if (best_ == ring::schedule::ring && !names(ring::moved::key_sums).empty())
      t += fmt::format("  comes home with them: {}\n", names(ring::moved::key_sums));
    if (const std::string totals = names(ring::moved::totals); !totals.empty())
      t += fmt::format("  added up over all: {}\n", totals);
    for (const ring::schedule other : fits_)
      if (other != best_)
        t += fmt::format("  by {}: {} on {} machines\n", name_of(other),
                         of_units(of(other, r_.shared_by.ranks).seconds, "s"), r_.shared_by.ranks);
    t += fmt::format("\n  {:>8} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10} {:>10} {:>10}\n",
                     "machines", of_.key + " each", "turn", "message", "transfer", "hidden",
                     "memory", "time", "efficiency");
    for (int n = 1; n <= r_.shared_by.ranks; n = next(n)) t += line(n);
    return t;
  }

  // An object a line, for each number of machines.
  std::string as_json() const {
    std::string t;
    for (int n = 1; n <= r_.shared_by.ranks; n = next(n)) t += json_line(n);
    return t;
  }

 private:
  bool can_merge() const {
    return std::any_of(of_.merges.begin(), of_.merges.end(), [](const auto *m) { return m; });
  }
  ring::forecast of(ring::schedule how, int machines) const {
    return ring::predicted(how, rounds_, facts_, machines);
  }
  std::string names(ring::moved how) const {
    const auto at = names_.find(how);
    return at == names_.end() ? "" : fmt::format("{}", fmt::join(at->second, ", "));
  }
  static std::string_view name_of(ring::schedule how) {
    return how == ring::schedule::tree     ? "tree"
           : how == ring::schedule::gather ? "gather"
           : how == ring::schedule::heads  ? "heads"
                                           : "ring";
  }
  std::string words() const {
    const std::string keys = names(ring::moved::keys);
    switch (best_) {
      case ring::schedule::tree:
        return fmt::format("tree: every machine has all queries, {} stay, sums merge in pairs",
                           keys);
      case ring::schedule::gather:
        return fmt::format("gather: every machine receives {} of all", keys);
      case ring::schedule::heads:
        return fmt::format("heads: every machine computes some, with {}, {} of all tokens",
                           names(ring::moved::queries), keys);
      default:
        return fmt::format("ring: {} travel while a turn is computed", keys);
    }
  }
  int next(int n) const {
    return n < r_.shared_by.ranks && 2 * n > r_.shared_by.ranks ? r_.shared_by.ranks : 2 * n;
  }

  std::string json_line(int n) const {
    const ring::forecast f = of(best_, n);
    json::object o;
    return o.add("kernel", json::text(k_.name))
               .add("sizes", json::sizes(sizes_.by_name()))
               .add("schedule", json::text(name_of(best_)))
               .add("machines", std::to_string(n))
               .add("turn_seconds", json::number(f.turn))
               .add("message_bytes", json::number(n > 1 ? f.message : 0))
               .add("transfer_seconds", json::number(f.transfer))
               .add("hidden", json::number(f.hidden))
               .add("memory_bytes", json::number(f.memory))
               .add("seconds", json::number(f.seconds))
               .add("efficiency", json::number(f.efficiency))
               .text() +
           "\n";
  }

  std::string line(int n) const {
    const ring::forecast f = of(best_, n);
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
    const char prefix = prefixes.begin()[step + 4];
    return fmt::format("{:.3g} {}{}", x / std::pow(1000, step),
                       prefix == ' ' ? "" : std::string(1, prefix), unit);
  }

  std::int64_t size(std::string_view axis) const {
    for (int a = 0; a < k_.n_axes; ++a)
      if (axis == k_.axes[a].name) return sizes_.of(a);
    return 1;
  }
  double flops(const qkv_kernel *part) const {
    if (!part) return 0;
    for (const entry &e : *r_.entries)
      if (e.name == part->name && e.cost) {
        kernel_sizes s(*part);
        for (int a = 0; a < part->n_axes; ++a)
          if (part->axes[a].root == a && part->axes[a].size < 0) s.set(a, size(part->axes[a].name));
        return e.cost(s.by_name()).flops_left_by_masks;
      }
    return 0;
  }

  const request &r_;
  const qkv_kernel &k_;
  const kernel_sizes &sizes_;
  ring::parts of_;
  const ring::hardware facts_{r_.shared_by.peak > 0 ? r_.shared_by.peak : 1e12,
                              r_.shared_by.link > 0 ? r_.shared_by.link : 12.5e9,
                              r_.shared_by.latency, r_.shared_by.bandwidth};
  std::vector<ring::round_work> rounds_;
  std::map<ring::moved, std::vector<std::string>> names_;
  std::vector<ring::schedule> fits_ = {ring::schedule::ring};
  ring::schedule best_ = ring::schedule::ring;
};

}  // namespace

void describe_ranks(const request &r) {
  kernel_sizes sizes = r.sizes_asked();
  sizes.complete_with(8192);
  if (!r.svg.empty()) throw refusal("--svg draws one machine: leave --ranks out");
  const ranks_report report(r, sizes);
  fmt::print("{}", r.json ? report.as_json() : report.text());
}

}  // namespace qkv::tool
