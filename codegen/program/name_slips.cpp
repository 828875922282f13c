// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/name_slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

class name_finder {
 public:
  explicit name_finder(const program &p) : p_(p), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (p_[n].kind == op::output) never_positive(n);
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::mask) kept(n, p_[n].in[1]);
      if (p_[n].kind == op::take && is_length(p_[n].in[1])) one_past(n);
      if (p_[n].kind == op::div) weights_by_temperature(n);
      if (p_[n].kind == op::add)
        for (const std::size_t k : {0, 1}) gamma_for_beta(n, p_[n].in[k], p_[n].in[1 - k]);
    }
    return std::move(slips_);
  }

 private:
  // The number of positions that count, from the first one: "length", "kv_len".
  bool is_length(node_id n) const {
    const node &x = p_[n];
    const auto says = [&](std::string_view word) { return x.name.find(word) != std::string::npos; };
    const bool counts_what_comes_first = says("past") || says("prefix") || says("prompt");
    const bool says_length = says("length") || x.name.starts_with("len") ||
                             x.name.ends_with("len") || x.name.ends_with("lens");
    return x.kind == op::input && x.type == i32 && says_length && !says("pad") && !says("left") &&
           !counts_what_comes_first;
  }

  // mask(scores, index(kv) <= length), for several queries: a single one may be at `length`.
  void kept(node_id mask, node_id condition) {
    const node &x = p_[condition];
    if (!x.name.empty()) return;
    if (x.kind == op::and_)
      for (node_id part : x.in) kept(mask, part);
    if (!is_comparison(x.kind)) return;
    const std::vector<position_set> where = positions_where(p_, condition, true);
    if (where.size() != 1 || where[0].size() != 1) return;
    const auto &[form, within] = *where[0].begin();
    const auto compared = position_less_number_in(form);
    if (!compared || !is_length(compared->number)) return;
    const axis_id key = compared->position;
    const auto is_query = [&](axis_id a) { return a != key && !p_.axes[a].batch; };
    if (std::none_of(p_[mask].shape.begin(), p_[mask].shape.end(), is_query)) return;
    const bool one_too_many = within.most == 0 && within.least == -interval::infinite;
    if (one_too_many || within.least >= 0)
      slips_.push_back(
          {mask, fmt::format("{0} keeps {1}; did you mean index({2}) < {3}? if it is meant, "
                             "let<..>(..)",
                             label_of(p_, condition),
                             one_too_many ? "the position after the last one" : "padding alone",
                             p_.axes[key].name, p_[compared->number].name)});
  }

  // softmax<kv>(scores) / temperature
  void weights_by_temperature(node_id n) {
    const node_id weights = inner_of(p_, p_[n].in[0]), by = inner_of(p_, p_[n].in[1]);
    const bool is_argument = p_[by].kind == op::input || p_[by].kind == op::param;
    if (!is_unnamed(p_, op::softmax, weights) || !is_argument) return;
    if (p_[by].name.find("temperature") == std::string::npos) return;
    slips_.push_back({n, fmt::format("weights that are divided do not add up to 1; did you mean "
                                     "softmax<{}>({} / {})? if it is meant, let<..>(..)",
                                     names_of(p_, p_[weights].over),
                                     label_of(p_, p_[weights].in[0]), p_[by].name)});
  }

  // x * beta + gamma
  void gamma_for_beta(node_id n, node_id product, node_id added) {
    product = inner_of(p_, product), added = inner_of(p_, added);
    if (!is_unnamed(p_, op::mul, product) || !is_gamma(added)) return;
    for (const std::size_t k : {0, 1})
      if (const node_id factor = inner_of(p_, p_[product].in[k]); is_beta(factor))
        slips_.push_back({n, fmt::format("{0} is a factor and {1} is added; did you exchange them? "
                                         "if it is meant, let<..>(..)",
                                         p_[factor].name, p_[added].name)});
  }
  bool is_gamma(node_id n) const { return is_param_of(n, {"gamma", "gain", "scale"}); }
  bool is_beta(node_id n) const { return is_param_of(n, {"beta", "bias", "shift"}); }
  bool is_param_of(node_id n, std::initializer_list<std::string_view> words) const {
    const auto says = [&](std::string_view word) { return p_[n].name.starts_with(word); };
    return p_[n].kind == op::param && std::any_of(words.begin(), words.end(), says);
  }

  // take<seq>(X, length); a table of parameters may have a row for each length.
  void one_past(node_id n) {
    if (p_[inner_of(p_, p_[n].in[0])].kind == op::param) return;
    const std::string &length = p_[p_[n].in[1]].name;
    slips_.push_back({n, fmt::format("{0} is one past the last position; did you mean {0} - 1? if "
                                     "it is meant, {0} + 0",
                                     length)});
  }

  // A result named loss that adds up log probabilities.
  void never_positive(node_id n) {
    static constexpr std::array<std::string_view, 4> words = {"loss", "nll", "entropy",
                                                              "perplexity"};
    const std::string &name = p_[n].name;
    const bool should_be = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return name.find(word) != std::string::npos;
    });
    const bool says_negative = name.find("neg_") != std::string::npos || name.starts_with("minus");
    if (should_be && !says_negative && signs_[n] == sign::not_positive)
      slips_.push_back({n, fmt::format("{} is never positive; did you leave out a minus? if it is "
                                       "meant, let<..>(..)",
                                       name)});
  }

  const program &p_;
  const std::vector<sign> signs_;
  std::vector<slip> slips_;
};

}  // namespace

std::vector<slip> name_slips(const program &p) { return name_finder(p).run(); }

}  // namespace qkv::codegen
