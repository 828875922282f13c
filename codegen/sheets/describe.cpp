// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "codegen/program/text.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "codegen/sheets/cost.hpp"
#include "codegen/sheets/peak.hpp"
#include "codegen/sheets/shape_trace.hpp"
#include "codegen/sheets/shown_steps.hpp"
#include "codegen/sheets/stage_report.hpp"

namespace qkv::codegen {
namespace {

using sizes = std::vector<std::int64_t>;

class sheet {
 public:
  sheet(const program &p, const plan &made, sizes size)
      : p_(p), made_(made), size_(std::move(size)) {}

  std::string run() {
    const std::vector<stage_report> stages = reports_of(made_, size_);
    signature();
    line("");
    line("shapes");
    // Two traces at most: to the first result and to the last one.
    if (!p_.outputs.empty()) line("  {}", shape_trace(p_, p_.outputs.front(), size_));
    if (p_.outputs.size() > 1) line("  {}", shape_trace(p_, p_.outputs.back(), size_));
    this->stages(stages);
    steps();
    cost(stages);
    orders();
    axes();
    return std::move(text_);
  }

 private:
  static constexpr std::size_t most_columns = 100, indent = 17;  // of what does not fit

  // Long lines go on below, where a term, a shape or a word begins.
  template <class... Arg>
  void line(fmt::format_string<Arg...> f, Arg &&...args) {
    std::string s = fmt::format(f, std::forward<Arg>(args)...);
    s.erase(s.find_last_not_of(' ') + 1);
    while (s.size() > most_columns) {
      std::size_t at = s.rfind(" + ", most_columns - 3);
      if (at == std::string::npos || at < indent) at = s.rfind(" -> ", most_columns - 4);
      if (at == std::string::npos || at < indent) at = s.rfind(' ', most_columns);
      if (at == std::string::npos || at < indent) break;
      text_ += s.substr(0, s.find_last_not_of(' ', at) + 1) + "\n";
      s = std::string(indent, ' ') + s.substr(s.find_first_not_of(' ', at));
    }
    text_ += s + "\n";
  }

  void signature() {
    line("{}", p_.name);
    for (node_id n : p_.arguments) declared(n);
    for (node_id n : p_.outputs) declared(n);
  }
  void declared(node_id n) {
    line("  {:<5} {:<4} {}{}", name_of(p_[n].kind), name_of(p_[n].type), p_[n].name,
         shape_of(p_, p_[n].shape));
  }

  void axes() {
    line("");
    line("axes");
    for (std::size_t k = 0; k < p_.axes.size(); ++k) {
      const axis &a = p_.axes[k];
      std::string how = a.size >= 0     ? fmt::format("{}", a.size)
                        : size_[k] >= 0 ? fmt::format("{}, decided at the call", size_[k])
                                        : "decided at the call";
      if (a.batch) how += ", batch";
      if (a.root != static_cast<axis_id>(k)) how += ", same as " + p_.axes[a.root].name;
      line("  {:<10} {}", a.name, how);
    }
    for (const condition &c : p_.conditions) line("  checked at the call: {}", c.text);
  }

  void steps() {
    line("");
    line("steps");
    constexpr std::size_t widest_label = 40;
    std::size_t widest = 0, widest_shape = 0;
    for (node_id n = 0; n < count(); ++n) {
      if (!is_shown(p_[n])) continue;
      if (const std::size_t label = label_of(p_, n).size(); label <= widest_label)
        widest = std::max(widest, label);
      widest_shape = std::max(widest_shape, names(n).size());
    }
    for (node_id n = 0; n < count(); ++n) {
      if (!is_shown(p_[n])) continue;
      std::string label = label_of(p_, n);
      if (label.size() > widest) line("  {}", std::exchange(label, ""));
      const std::string flops = flops_of(p_, n).text(p_),
                        row =
                            fmt::format("  {:<{}}  {:<{}}  {}", label, widest, names(n),
                                        widest_shape, extents_text(p_, shown_shape(p_, n), size_)),
                        cost = flops == "0" ? "" : fmt::format("  {} flops", flops);
      if (row.size() + cost.size() <= most_columns) {
        line("{}{}", row, cost);
      } else {
        line("{}", row);
        line("{:{}}{}", "", widest + 2, cost);
      }
    }
  }

  std::string names(node_id n) const { return shape_of(p_, shown_shape(p_, n)); }
  node_id count() const { return static_cast<node_id>(p_.nodes.size()); }

  void cost(std::span<const stage_report> stages) {
    const cost_sheet c = cost_of(p_, made_.p, size_);
    line("");
    line("cost");
    amount("flops", c.flops, "");
    const auto left = flops_left_by_masks(made_.p, size_), all = c.flops.value(size_);
    if (left && all && *left < *all)
      line("  {:<14} {} ({:.1f} %)", "  left by masks", short_number(*left), 100 * *left / *all);
    formula recomputed;
    for (const stage_report &s : stages) recomputed += s.recomputed;
    if (recomputed.text(p_) != "0") amount("  recomputed", recomputed, "");
    amount("bytes read", c.read, "B");
    amount("bytes written", c.written, "B");
    if (c.saved.text(p_) != "0") amount("  saved", c.saved, "B for the gradient");
    amount("intermediates", c.intermediates, "B if every step were stored");
    stored(stages);
    peak(stages);
    const auto moved = bytes_moved(made_.p, size_), read = c.read.value(size_),
               written = c.written.value(size_);
    if (moved && read && written && *moved < *read + *written)
      line("  {:<14} {} ({:.1f} %)", "bytes moved", short_number(*moved, "B"),
           100 * *moved / (*read + *written));
    if (left && moved && *moved > 0)
      line("  {:<14} {:.3g} flops/B", "intensity", *left / *moved);
    else
      line("  {:<14} flops / bytes moved", "intensity");
  }

  void stored(std::span<const stage_report> stages) {
    formula all;
    for (const stage_report &s : stages) all += s.stored;
    if (made_.by_chunks) {
      amount("stored", between_parts(*made_.by_chunks), "B between chunks on CPUs");
      return amount("", all, "B between stages on GPUs");
    }
    if (all.text(p_) == "0")
      line("  {:<14} nothing between stages", "stored");
    else
      amount("stored", all, "B between stages");
  }

  void peak(std::span<const stage_report> stages) {
    const codegen::peak most = peak_of(made_, size_);
    if (most.stage < 0) return line("  {:<14} nothing but tiles", "peak");
    amount("peak", most.bytes, "B at once on one thread");
    line("  {:<14} {}", "  in stage", stages[static_cast<std::size_t>(most.stage)].name);
  }

  // Where another order of contractions than the written one is chosen: the cost of each.
  void orders() {
    const program q = opened(p_);
    std::vector<contraction_order> all = orders_of(q);
    std::erase_if(
        all, [](const contraction_order &o) { return o.other.empty() && o.chosen == o.written; });
    if (all.empty()) return;
    line("");
    line("order of contractions");
    const auto total = [](const std::vector<std::vector<axis_id>> &contractions) {
      formula f;
      for (const std::vector<axis_id> &axes : contractions) f += formula(2, axes);
      return f;
    };
    for (const contraction_order &o : all) {
      line("  {}", label_of(q, o.result));
      amount("  as written", total(o.written), "flops");
      amount("  chosen", total(o.chosen), "flops");
      if (!o.other.empty()) amount("  or, if less", total(o.other), "flops");
    }
  }

  void amount(const char *what, const formula &f, const char *unit) {
    const auto value = f.value(size_);
    if (value)
      line("  {:<14} {} = {}", what, f.text(p_), short_number(*value, unit));
    else
      line("  {:<14} {} {}", what, f.text(p_), unit);
  }

  // Each with its share of the flops, where sizes are known.
  void stages(std::span<const stage_report> all) {
    line("");
    line("stages");
    formula sum;
    for (const stage_report &s : all) sum += s.flops;
    const auto total = sum.value(size_);
    for (const stage_report &s : all) {
      const auto own = s.flops.value(size_);
      const std::string share = !s.is_taken ? "unused"
                                : own && total && *total > 0
                                    ? fmt::format("{:5.1f} %", 100 * *own / *total)
                                    : "";
      line("  {:<11} {:<8} {}", s.kind, share, s.name);
      if (s.products > 0)
        line("  {:<11} {:<8}   {} products for each pair on CPUs, {} in {} on GPUs", "", "",
             s.products, s.products_apart, s.walks_apart == 1 ? "one walk" : "two walks");
      for (const std::string &step : s.stored_on_gpus)
        line("  {:<11} {:<8}   GPUs store {}", "", "", step);
      for (const std::string &step : s.stores)
        if (step != s.name) line("  {:<11} {:<8}   stores {}", "", "", step);
    }
    if (made_.by_chunks)
      line("  by chunks of {} positions of {} on CPUs, which store states at their ends alone",
           positions_of_chunk, p_.axes[made_.by_chunks->along].name);
    line("");
    line("never stored");
    bool none = true;
    for (const stage_report &s : all)
      for (const std::string &step : s.never_stored) {
        line("  {}", step);
        none = false;
      }
    if (none) line("  (every step is stored)");
  }

  const program &p_;
  const plan &made_;
  sizes size_;
  std::string text_;
};

}  // namespace

std::string describe(const program &written, const plan &made, const size_map &given) {
  return sheet(written, made, resolve_sizes(made.p, given)).run();
}

}  // namespace qkv::codegen
