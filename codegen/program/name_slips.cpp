// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/name_slips.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "codegen/program/formula_pattern.hpp"
#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class name_finder : slip_finder {
 public:
  explicit name_finder(const program &p) : slip_finder(p), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (p_[n].kind == op::output) never_positive(n), of_another_kind(n);
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::mask)
        kept(n, p_[n].in[1]), of_past(n), of_queries(n), of_hidden_keys(n), of_prefix(n);
      if (p_[n].kind == op::concat) joined(n);
      if (p_[n].kind == op::take && is_length(p_[n].in[1])) one_past(n);
      if (p_[n].kind == op::take) at_tokens(n);
      if (p_[n].kind == op::div) weights_by_temperature(n), by_scale(n);
      if (p_[n].kind == op::mul) times_temperature(n), of_kept_keys(n);
      if (p_[n].kind == op::softmax) projections(n);
      if (p_[n].kind == op::add)
        for (const std::size_t k : {0, 1}) gamma_for_beta(n, p_[n].in[k], p_[n].in[1 - k]);
    }
    results();
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
    from_the_end(mask, condition, form, within);
    const auto compared = position_less_number_in(form);
    if (!compared || !is_length(compared->number)) return;
    const axis_id key = compared->position;
    const auto is_query = [&](axis_id a) { return a != key && !p_.axes[a].batch; };
    if (std::none_of(p_[mask].shape.begin(), p_[mask].shape.end(), is_query)) return;
    const bool one_too_many = within.most == 0 && within.least == -interval::infinite;
    if (one_too_many || within.least >= 0)
      say(mask, "{0} keeps {1}; did you mean index({2}) < {3}?", written_as(p_, condition),
          one_too_many ? "the position after the last one" : "padding alone", p_.axes[key].name,
          p_[compared->number].name);
  }

  // causal<seq, kv> && index(kv) < prefix_length
  void of_prefix(node_id mask) {
    const node_id c = p_[mask].in[1];
    if (!is(op::and_, c)) return;
    for (const std::size_t k : {0, 1}) {
      const auto where = positions_where(p_, p_[c].in[k], true);
      if (where.size() != 1 || where[0].size() != 1) continue;
      const auto &[form, within] = *where[0].begin();
      const auto compared = position_less_number_in(form);
      if (!compared || within.most != -1) continue;
      if (p_[compared->number].name.find("prefix") == std::string::npos) continue;
      if (is_causal(p_, p_[c].in[1 - k], {compared->position}))
        return say(mask, "{} hides all keys but those of the prefix; did you mean ||?",
                   written_as(p_, c));
    }
  }

  // cached_causal<seq, slots>(past_length), which counts the new keys, too
  void of_past(node_id mask) {
    for (const position_set &s : positions_where(p_, p_[mask].in[1], true))
      for (const auto &[form, within] : s)
        for (const auto &[t, factor] : form) {
          // not of past_length + 1, which counts a new key
          if (within.most != 0 && within.least != 0) continue;
          if (t.what != term::step || p_[t.id].name.find("past") == std::string::npos) continue;
          const auto own = std::find_if(form.begin(), form.end(), [&](const auto &other) {
            return other.first.what == term::size && other.second == -factor;
          });
          if (own == form.end()) continue;
          return say(
              mask,
              "places the queries at {0} - size({1}) + index({1}); did you mean {0} + size({1}) "
              "as the length?",
              p_[t.id].name, p_.axes[own->first.id].name);
        }
  }

  // padding<mem>(q_len) beside an argument kv_len
  void of_queries(node_id mask) {
    static constexpr std::array<std::string_view, 6> of_query = {"q_",      "query_", "tgt_",
                                                                 "target_", "dec_",   "decoder_"};
    static constexpr std::array<std::string_view, 9> of_key = {
        "kv_", "k_", "key_", "src_", "source_", "memory_", "mem_", "enc_", "encoder_"};
    const auto begins = [](std::string_view name, const auto &words) {
      return std::any_of(words.begin(), words.end(),
                         [&](std::string_view word) { return name.starts_with(word); });
    };
    for (const position_set &s : positions_where(p_, p_[mask].in[1], true))
      for (const auto &[form, within] : s) {
        const auto less = position_less_number_in(form);
        if (!less || !has(keys_of_scores(p_, users_, mask), less->position)) continue;
        if (is_of_one_sequence(mask, less->position) || !is_length(less->number)) continue;
        const std::string &number = p_[less->number].name;
        const auto is_of = [&](const std::string &name, axis_id a) {
          return name.starts_with(p_.axes[a].name + "_");
        };
        const auto is_of_query = [&](axis_id a) {
          return a != less->position && !p_.axes[a].batch && is_of(number, a);
        };
        const std::vector<axis_id> &shape = p_[mask].shape;
        const bool by_axes = std::any_of(shape.begin(), shape.end(), is_of_query);
        if (!begins(number, of_query) && !by_axes) continue;
        for (const node_id other : p_.arguments)
          if (is_length(other) &&
              ((by_axes && is_of(p_[other].name, less->position) && !pads_scores(other)) ||
               (begins(number, of_query) && begins(p_[other].name, of_key))))
            return say(mask, "the keys are masked by {}; did you mean {}?", p_[less->number].name,
                       p_[other].name);
      }
  }

  bool pads_scores(node_id length) const {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (p_[n].kind == op::mask && !keys_of_scores(p_, users_, n).empty() &&
          depends_on(p_, p_[n].in[1], [&](node_id m) { return m == length; }))
        return true;
    return false;
  }

  // True for the scores of self-attention.
  bool is_of_one_sequence(node_id mask, axis_id key) const {
    return std::any_of(p_[mask].shape.begin(), p_[mask].shape.end(),
                       [&](axis_id a) { return a != key && p_.axes[a].root == p_.axes[key].root; });
  }

  // concat<total>(past_V, K), where there is a past_K
  void joined(node_id n) {
    const node &first = p_[inner_of(p_, p_[n].in[0])], &second = p_[inner_of(p_, p_[n].in[1])];
    if (first.kind != op::input || second.kind != op::input) return;
    const std::string_view a = last_word(first.name), b = last_word(second.name);
    if (is_past(second.name) && !is_past(first.name) && is_masked_along(p_[n].over[0]) &&
        !is_joined_otherwise(n))
      return say(n, "puts {0} before {1}; did you mean {1} first?", first.name, second.name);
    if (a == b || a.size() == first.name.size()) return;
    if (first_word(first.name) == first_word(second.name)) return;  // K_past with K_now
    const std::string wanted = first.name.substr(0, first.name.size() - a.size()) + std::string(b);
    for (const node_id other : p_.arguments)
      if (p_[other].name == wanted && !std::exchange(is_joined_said_, true))
        return say(n, "joins {} with {}; did you mean {}?", first.name, second.name, wanted);
  }

  // mask(scores, index(kv) < size(kv) - length)
  void from_the_end(node_id mask, node_id condition, const linear_form &form,
                    const interval &within) {
    if (form.size() != 3 || within.most != -1 || within.least != -interval::infinite) return;
    std::optional<axis_id> key;
    node_id length = -1;
    bool has_size = false;
    for (const auto &[t, factor] : form) {
      if (t.what == term::position && factor == 1) key = t.id;
      if (t.what == term::step && factor == 1 && is_length(t.id)) length = t.id;
      has_size = has_size || (t.what == term::size && factor == -1);
    }
    if (key && length >= 0 && has_size)
      say(mask, "{0} keeps as many positions as {2} lacks; did you mean index({1}) < {2}?",
          written_as(p_, condition), p_.axes[*key].name, p_[length].name);
  }

  // mask(scores, key_padding_mask), which is true in PyTorch where keys are hidden
  void of_hidden_keys(node_id mask) {
    const node_id condition = unbroadcast(p_, p_[mask].in[1]);
    if (p_[condition].kind != op::input || !p_[condition].name.ends_with("key_padding_mask"))
      return;
    say(mask,
        "keeps what {0} is true for, which PyTorch hides; did you mean !{0}? if it is meant, "
        "let<..>({0})",
        p_[condition].name);
  }
  // scores + attention_mask * -1e9, which is 1 for the keys that count
  void of_kept_keys(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id m = inner_of(p_, p_[n].in[k]), by = inner_of(p_, p_[n].in[1 - k]);
      if (!is_argument_of_scores(m, "attention_mask") || !is_number(p_, by)) continue;
      if (p_[by].value > -leaves_nothing_of_scores) continue;
      say(n, "hides what {0} is 1 for; did you mean (1 - {0}) * {1:g}?", p_[m].name, p_[by].value);
    }
  }

  // softmax<kv>(scores) / temperature
  void weights_by_temperature(node_id n) {
    const node_id weights = inner_of(p_, p_[n].in[0]), by = inner_of(p_, p_[n].in[1]);
    if (!is(op::softmax, weights) || !is_argument(p_[by])) return;
    if (p_[by].name.find("temperature") == std::string::npos) return;
    say(n, "weights that are divided do not add up to 1; did you mean softmax<{}>({} / {})?",
        names_of(p_, p_[weights].over), written_as(p_, p_[weights].in[0]), p_[by].name);
  }

  bool is_argument_of_scores(node_id n, std::string_view word) const {
    return is_argument(p_[n]) && p_[n].name.find(word) != std::string::npos;
  }
  // dot<d_k>(Q, K) / exp(logit_scale)
  void by_scale(node_id n) {
    const node_id by = inner_of(p_, p_[n].in[1]);
    if (!is(op::exp, by)) return;
    const node_id scale = inner_of(p_, p_[by].in[0]);
    if (is_argument_of_scores(scale, "logit_scale"))
      say(n, "divides by {0}; did you mean {1} * {0}?", written_as(p_, by),
          written_as(p_, p_[n].in[0]));
  }
  // softmax<kv>(dot<d_k>(Q, K) * temperature)
  void times_temperature(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id by = inner_of(p_, p_[n].in[k]);
      const bool is_inverse = p_[by].name.find("inv") != std::string::npos;
      if (!is_argument_of_scores(by, "temperature") || is_inverse) continue;
      if (keys_of_scores(p_, users_, n).empty() || are_cosines(p_[n].in[1 - k])) continue;
      say(n, "scores are multiplied by {0}; did you mean {1} / {0}?", p_[by].name,
          written_as(p_, p_[n].in[1 - k]));
    }
  }

  // Products of unit lengths, which a learned temperature multiplies (XCiT, Swin v2).
  bool are_cosines(node_id n) const {
    static const formula_pattern forms[] = {
        formula_pattern("dot<d>(q * rsqrt(sum<a>(q * q)), k * rsqrt(sum<b>(k * k)))"),
        formula_pattern("dot<d>(q / sqrt(sum<a>(q * q)), k / sqrt(sum<b>(k * k)))"),
        formula_pattern(
            "dot<d>(q / max(sqrt(sum<a>(q * q)), #e), k / max(sqrt(sum<b>(k * k)), #e))")};
    return std::any_of(std::begin(forms), std::end(forms), [&](const formula_pattern &form) {
      return form.find(p_, inner_of(p_, n), [](const pattern_match &) { return true; });
    });
  }

  // dot<kv>(softmax<kv>(dot<d_k>(Q, dot<d_model>(X, Wv))), dot<d_model>(X, Wk))
  void projections(node_id weights) {
    if (p_[weights].over.size() != 1) return;
    const axis_id key = p_[weights].over[0];
    const std::set<char> keys = letters_of_projections(unmasked(p_, p_[weights].in[0]), key);
    for (const node_id user : users_[weights]) {
      if (p_[user].kind != op::dot || !has(p_[user].over, key)) continue;
      const node_id left = inner_of(p_, p_[user].in[0]);
      const node_id values = left == weights ? p_[user].in[1] : p_[user].in[0];
      if (keys == std::set{'v'} && letters_of_projections(values, key) == std::set{'k'})
        return say(
            user,
            "the keys are made with the parameter of the values, and the values with that of the "
            "keys; did you exchange them?");
    }
  }
  // 'k' of a projection with Wk along the axis of the keys.
  std::set<char> letters_of_projections(node_id n, axis_id key) const {
    std::set<char> letters;
    std::set<node_id> below;
    walk(
        p_, n,
        [&](node_id m) {
          const bool is_product = p_[m].kind == op::dot && has(p_[m].shape, key);
          for (const node_id operand : p_[m].in)
            if (const node &w = p_[inner_of(p_, operand)]; is_product && w.kind == op::param)
              if (const char letter = letter_of(w.name)) letters.insert(letter);
          return (p_[m].name.empty() && has(p_[m].shape, key)) || m == n;
        },
        below);
    return letters;
  }
  // 'k' of Wk, W_k, wk and k_proj; 0 of other names.
  static char letter_of(std::string_view name) {
    std::string word(name);
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char letter : {'q', 'k', 'v'})
      for (const std::string &form : {std::string("w") + letter, std::string("w_") + letter,
                                      std::string(1, letter) + "_proj"})
        if (word == form) return letter;
    return 0;
  }

  // Results new_K and new_V, of which one is made of past_V alone and the other of past_K.
  void results() {
    for (const node_id a : p_.outputs)
      for (const node_id b : p_.outputs) {
        const std::string_view one = last_word(p_[a].name), other = last_word(p_[b].name);
        if (a >= b || one == other || !are_exchanged(a, b, one, other)) continue;
        say(a, "is made of {}, and {} of {}; did you exchange the results?", names_with(other),
            p_[b].name, names_with(one));
      }
  }
  static bool is_past(std::string_view name) {
    return name.find("past") != name.npos || name.find("cache") != name.npos;
  }
  // True if a mask compares positions along the axis with others.
  bool is_masked_along(axis_id keys) const {
    return std::any_of(p_.nodes.begin(), p_.nodes.end(), [&](const node &mask) {
      if (mask.kind != op::mask) return false;
      const std::vector<axis_id> &shape = p_[mask.in[1]].shape;
      return has(shape, keys) && std::any_of(shape.begin(), shape.end(), [&](axis_id a) {
               return a != keys && !p_.axes[a].batch;
             });
    });
  }
  // True if other parts are joined in the other order, which placement_slips reports.
  bool is_joined_otherwise(node_id n) const {
    return std::any_of(p_.nodes.begin(), p_.nodes.end(), [&](const node &x) {
      return x.kind == op::concat && x.over[0] == p_[n].over[0] &&
             is_past(p_[inner_of(p_, x.in[0])].name);
    });
  }
  static std::string_view first_word(std::string_view name) {
    return name.substr(0, name.find('_'));
  }
  static std::string_view last_word(std::string_view name) {
    return name.substr(name.rfind('_') == std::string_view::npos ? 0 : name.rfind('_') + 1);
  }
  bool are_exchanged(node_id a, node_id b, std::string_view one, std::string_view other) const {
    return reads(a, other) && !reads(a, one) && reads(b, one) && !reads(b, other);
  }
  // True if it is made of an argument past_K, where the word is K.
  bool reads(node_id result, std::string_view word) const {
    return depends_on(p_, result, [&](node_id m) { return has_word(m, word); });
  }
  bool has_word(node_id m, std::string_view word) const {
    return p_[m].kind == op::input && last_word(p_[m].name) == word;
  }
  std::string names_with(std::string_view word) const {
    std::string names;
    for (const node_id n : p_.arguments)
      if (has_word(n, word)) names += (names.empty() ? "" : ", ") + p_[n].name;
    return names;
  }

  // A result named lse that is a maximum, or the other way round.
  void of_another_kind(node_id n) {
    const op kind = p_[inner_of(p_, p_[n].in[0])].kind;
    const std::string_view name = p_[n].name;
    const bool says_sum = name == "lse" || name == "logsumexp";
    const bool says_maximum = name == "max" || name == "maximum";
    if ((says_sum && kind == op::max_over) || (says_maximum && kind == op::logsumexp))
      say(n, "is made by {}; did you exchange the results?", written_as(p_, p_[n].in[0]));
  }

  // x * beta + gamma
  void gamma_for_beta(node_id n, node_id product, node_id added) {
    product = inner_of(p_, product), added = inner_of(p_, added);
    if (!is(op::mul, product) || !is_gamma(added)) return;
    for (const std::size_t k : {0, 1})
      if (const node_id factor = inner_of(p_, p_[product].in[k]); is_beta(factor))
        say(n, "{0} is a factor and {1} is added; did you exchange them?", p_[factor].name,
            p_[added].name);
  }
  bool is_gamma(node_id n) const { return is_param_of(n, {"gamma", "gain", "scale"}); }
  bool is_beta(node_id n) const { return is_param_of(n, {"beta", "bias", "shift"}); }
  bool is_param_of(node_id n, std::initializer_list<std::string_view> words) const {
    const auto says = [&](std::string_view word) { return p_[n].name.starts_with(word); };
    return p_[n].kind == op::param && std::any_of(words.begin(), words.end(), says);
  }

  // take<positions>(table, tokens)
  void at_tokens(node_id n) {
    const std::string &rows = p_.axes[p_[n].over[0]].name;
    const node &ids = p_[inner_of(p_, p_[n].in[1])];
    if (ids.kind != op::input || rows.find("position") == std::string::npos) return;
    if (ids.name.find("token") == std::string::npos &&
        ids.name.find("input_id") == std::string::npos)
      return;
    say(n,
        "reads a row of {0} for each of {1}; did you mean index(..), which counts the positions?",
        rows, ids.name);
  }

  // True for a row of a table of positions, where a mask shows as many keys as the length says.
  bool counts_new_token(node_id n) const {
    if (p_.axes[p_[n].over[0]].name.find("pos") == std::string::npos) return false;
    const term length{term::step, p_[n].in[1]};
    for (const node &mask : p_.nodes)
      if (mask.kind == op::mask)
        for (const position_set &s : positions_where(p_, mask.in[1], true))
          for (const auto &[form, within] : s) {
            const bool is_cached = std::any_of(
                form.begin(), form.end(), [](const auto &t) { return t.first.what == term::size; });
            if (form.count(length) && (is_cached || within.most == -1)) return true;
          }
    return false;
  }

  // take<seq>(X, length); a table of parameters may have a row for each length.
  void one_past(node_id n) {
    if (p_[inner_of(p_, p_[n].in[0])].kind == op::param && !counts_new_token(n)) return;
    const std::string &length = p_[p_[n].in[1]].name;
    say(n, "{0} is one past the last position; did you mean {0} - 1? if it is meant, {0} + 0",
        length);
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
      say(n, "{} is never positive; did you leave out a minus?", name);
    below_one(n);
  }
  // A result named perplexity that is exp of log probabilities.
  void below_one(node_id n) {
    const std::string &name = p_[n].name;
    if (!codegen::has_word(name, {"perplexity", "ppl"})) return;
    if (codegen::has_word(name, {"inv", "reciprocal", "one_over"})) return;
    const node_id value = inner_of(p_, p_[n].in[0]);
    if (is(op::exp, value) && signs_[p_[value].in[0]] == sign::not_positive)
      say(n, "{} is never above 1; did you mean exp(-{})?", name, written_as(p_, p_[value].in[0]));
  }

  const std::vector<sign> signs_;
  bool is_joined_said_ = false;  // of keys; values have the same slip
};

}  // namespace

std::vector<slip> name_slips(const program &p) { return name_finder(p).run(); }

}  // namespace qkv::codegen
