// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/scale_slips.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "codegen/program/queries.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class scale_finder : slip_finder {
 public:
  explicit scale_finder(const program &p) : slip_finder(p), positions_(steps_of_positions(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::div) {
        scaled_by_size(n, p_[n].in[0], p_[n].in[1], false);
        scaled_bias(n);
        scaled_by_one_of_two(n);
        scaled_by_keys(n);
        cap_cancels(n);
      }
      if (p_[n].kind == op::tanh) cap_is_lost(n);
      if (p_[n].kind == op::dot) side_by_size(n);
      if (p_[n].kind == op::add)
        for (const std::size_t k : {0, 1}) {
          unshifted_sink(n, p_[n].in[k], p_[n].in[1 - k]);
          scaled_term(n, p_[n].in[k], p_[n].in[1 - k]);
        }
      if (p_[n].kind == op::mul)
        for (const std::size_t k : {0, 1}) {
          multiplied_by_root(n, p_[n].in[k], p_[n].in[1 - k]);
          two_caps(n, p_[n].in[k], p_[n].in[1 - k]);
          scaled_by_size(n, p_[n].in[k], p_[n].in[1 - k], true);
          share_of_others(n, inner_of(p_, p_[n].in[k]), inner_of(p_, p_[n].in[1 - k]));
          scaled_positions(n, inner_of(p_, p_[n].in[k]), p_[n].in[1 - k]);
        }
    }
    return std::move(slips_);
  }

 private:
  // dot<d_k>(Q + u, K) + take<distances>(dot<d_k>(Q + v, R), far) / sqrt(d_k). Decomposed relative
  // positions are beside a product that is divided alone, on purpose.
  void scaled_term(node_id n, node_id whole, node_id scaled) {
    const node_id content = inner_of(p_, whole);
    const scaled_step other = without_scale(p_, scaled);
    node_id position = other.of;
    while (is(op::take, position)) position = inner_of(p_, p_[position].in[0]);
    if (position == other.of || !is(op::dot, content) || !is(op::dot, position) || other.by >= 1 ||
        p_[content].over != p_[position].over || p_[content].over.size() != 1 ||
        !codegen::is_root_of(p_, 1 / other.by, p_[content].over[0]))
      return;
    for (const node_id product : {content, position})
      for (const node_id operand : p_[product].in)
        if (without_scale(p_, operand).by != 1) return;
    if (keys_of_scores(p_, users_, n).empty()) return;
    say(n, "{} alone is divided by the root of {}; did you mean to divide the sum?",
        written_as(p_, position), names_of(p_, p_[content].over));
  }

  // (take<vocabulary>(words, tokens) + sinusoids) * sqrt(d_model)
  void scaled_positions(node_id n, node_id sum, node_id factor) {
    const std::optional<double> root = known_number(p_, factor);
    if (!root || !is(op::add, sum) || p_[sum].shape.empty() ||
        !codegen::is_root_of(p_, *root, p_[sum].shape.back()))
      return;
    for (const std::size_t k : {0, 1}) {
      const node_id words = inner_of(p_, p_[sum].in[k]), places = inner_of(p_, p_[sum].in[1 - k]);
      if (!is(op::take, words) || p_[inner_of(p_, p_[words].in[0])].kind != op::param ||
          is_of_call(places) || !is_of_call(p_[words].in[1]))
        continue;
      say(n, "positions {} are multiplied by {:.4g}, too; did you mean to multiply {} alone?",
          written_as(p_, places), *root, written_as(p_, words));
    }
  }
  // True for what an input decides.
  bool is_of_call(node_id n) const {
    return depends_on(p_, n, [&](node_id m) { return p_[m].kind == op::input; });
  }

  // (dot<d_k>(Q, K) - 0.5 * abs(index(kv) - index(seq))) / sqrt(d_k)
  void scaled_bias(node_id n) {
    const node_id sum = p_[n].in[0];
    if (!is(op::add, sum) && !is(op::sub, sum)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id product = inner_of(p_, p_[sum].in[k]), bias = inner_of(p_, p_[sum].in[1 - k]);
      if (!is(op::dot, product) || !is_root_of(p_[n].in[1], p_[product].over) ||
          !is_of_positions(bias))
        continue;
      say(n, "the bias {} is divided, too; did you mean to divide {} alone?", written_as(p_, bias),
          written_as(p_, product));
    }
  }
  // Sizes below 16 are not reported: the number may have another meaning.
  static constexpr double least_size = 16;
  // dot<d_k>(Q, K) / 64, or times its inverse, where d_k has 64 elements.
  void scaled_by_size(node_id n, node_id product, node_id number, bool is_inverse) {
    product = inner_of(p_, product);
    if (!is(op::dot, product) || p_[product].over.size() != 1 || !is_number(p_, number)) return;
    const axis_id contracted = p_[product].over[0];
    const double size = static_cast<double>(static_size(p_, contracted));
    const double divisor = is_inverse ? 1 / p_[number].value : p_[number].value;
    if (size < least_size || std::abs(divisor - size) > 1e-6 * size ||
        keys_of_scores(p_, users_, n).empty() || has_another_scale(n, product))
      return;
    const std::string name = p_.axes[contracted].name;
    say(n,
        "{0} is divided by the size of {1}; did you mean / sqrt({1})? if it is meant, / size({1})",
        written_as(p_, product), name);
  }

  // dot<d_k>(Q / 64, K)
  void side_by_size(node_id n) {
    if (p_[n].over.size() != 1 || p_[n].in[0] == p_[n].in[1]) return;
    const axis_id contracted = p_[n].over[0];
    const double size = static_cast<double>(static_size(p_, contracted));
    for (const std::size_t k : {0, 1}) {
      const node_id side = inner_of(p_, p_[n].in[k]);
      const scaled_step by_number = without_scale(p_, side);
      if (size < least_size || !nearly(by_number.by, 1 / size)) continue;
      if (without_scale(p_, p_[n].in[1 - k]).by != 1 || is_scaled_by_call(side)) continue;
      if (p_[by_number.of].kind == op::softmax || keys_of_scores(p_, users_, n).empty()) continue;
      if (std::any_of(users_[n].begin(), users_[n].end(), [&](node_id u) { return scales(u); }))
        continue;
      return say(n,
                 "{0} is divided by the size of {1}; did you mean / sqrt({1})? if it is meant, / "
                 "size({1})",
                 written_as(p_, by_number.of), p_.axes[contracted].name);
    }
  }
  bool scales(node_id n) const { return is(op::tanh, n) || is(op::mul, n) || is(op::div, n); }
  // The factor is a size or a root of one, not a number.
  bool is_scaled_by_call(node_id n) const {
    return depends_on(
        p_, n, [&](node_id m) { return p_[m].kind == op::size; },
        [&](node_id m) { return is(op::mul, m) || is(op::div, m) || is_view(p_[m].kind); });
  }

  // A cap, or a factor before or after.
  bool has_another_scale(node_id n, node_id product) const {
    const auto is_scaled = [&](node_id operand) {
      return is(op::mul, operand) || is(op::div, operand);
    };
    return std::any_of(users_[n].begin(), users_[n].end(), [&](node_id u) { return scales(u); }) ||
           std::any_of(p_[product].in.begin(), p_[product].in.end(), is_scaled);
  }

  // The root of the size of one of these axes.
  bool is_root_of(node_id n, const std::vector<axis_id> &axes) const {
    n = inner_of(p_, n);
    const auto is_of = [&](axis_id a) {
      const std::int64_t size = static_size(p_, a);
      if (is_number(p_, n))
        return size > 1 && p_[n].value * p_[n].value > 0.999 * static_cast<double>(size) &&
               p_[n].value * p_[n].value < 1.001 * static_cast<double>(size);
      const node_id of = p_[n].kind == op::sqrt ? inner_of(p_, p_[n].in[0]) : n;
      return of != n && p_[of].kind == op::size && p_[of].over[0] == p_.axes[a].root;
    };
    return std::any_of(axes.begin(), axes.end(), is_of);
  }

  // (dot<d_k>(q, K) + dot<rotated>(q_r, k_r)) / sqrt(d_k)
  void scaled_by_one_of_two(node_id n) {
    const node_id sum = inner_of(p_, p_[n].in[0]);
    if (!is(op::add, sum)) return;
    const node_id a = inner_of(p_, p_[sum].in[0]), b = inner_of(p_, p_[sum].in[1]);
    if (!is(op::dot, a) || !is(op::dot, b) ||
        is_root_of(p_[n].in[1], p_[a].over) == is_root_of(p_[n].in[1], p_[b].over))
      return;
    say(n,
        "{0} adds up {1} and {2}, but is divided by the root of one alone; did you mean "
        "sqrt(size({1}) + size({2}))?",
        written_as(p_, sum), names_of(p_, p_[a].over), names_of(p_, p_[b].over));
  }

  // dot<d_k>(Q, dot<kv>(K, E)) / sqrt(low), for softmax<low>
  void scaled_by_keys(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]), by = inner_of(p_, p_[n].in[1]);
    if (!is(op::dot, product) || is_root_of(by, p_[product].over)) return;
    for (const axis_id key : keys_of_scores(p_, users_, n))
      if (is_root_of(by, {key}))
        return say(n, "{} is divided by the root of the number of keys; did you mean / sqrt({})?",
                   written_as(p_, product), names_of(p_, p_[product].over));
  }

  // 50 * tanh(scores) / 50
  void cap_cancels(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]), by = inner_of(p_, p_[n].in[1]);
    if (!is(op::mul, product) || !is_number(p_, by)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id cap = inner_of(p_, p_[product].in[k]);
      const node_id tanh = inner_of(p_, p_[product].in[1 - k]);
      if (!is_number(p_, cap) || p_[cap].value != p_[by].value || !is(op::tanh, tanh)) continue;
      say(n, "* {0:g} and / {0:g} cancel; did you mean {0:g} * tanh({1} / {0:g})?", p_[cap].value,
          written_as(p_, p_[tanh].in[0]));
    }
  }

  // sum<kv>(exp(scores - max<kv>(scores))) + exp(sink), or + sink
  void unshifted_sink(node_id n, node_id sum, node_id sink) {
    sum = inner_of(p_, sum), sink = inner_of(p_, sink);
    if (!is(op::sum, sum) || (!is(op::exp, sink) && !is_argument(p_[sink]))) return;
    const node_id e = inner_of(p_, p_[sum].in[0]);
    if (!is(op::exp, e) || !is(op::sub, p_[e].in[0])) return;
    const node_id most = inner_of(p_, p_[p_[e].in[0]].in[1]);
    const node_id logit = is_argument(p_[sink]) ? sink : inner_of(p_, p_[sink].in[0]);
    if (!is(op::max_over, most) || !same_set(p_[most].over, p_[sum].over)) return;
    if (is(op::sub, logit) || is(op::add, logit)) return;
    say(n, "the scores of {0} are less {1}, but {2} is not; did you mean exp({2} - {1})?",
        written_as(p_, sum), written_as(p_, most), written_as(p_, logit));
  }

  // dot<d_k>(Q, K) * pow(size(d_k), 0.5)
  void multiplied_by_root(node_id n, node_id product, node_id root) {
    product = inner_of(p_, product), root = inner_of(p_, root);
    if (!is(op::dot, product) || !is(op::pow, root)) return;
    const node_id half = p_[root].in[1], size = inner_of(p_, p_[root].in[0]);
    if (!is_number(p_, half) || p_[half].value != 0.5 || p_[size].kind != op::size) return;
    const axis_id of = p_[size].over[0];
    const auto is_contracted = [&](axis_id a) { return p_.axes[a].root == p_.axes[of].root; };
    if (std::any_of(p_[product].over.begin(), p_[product].over.end(), is_contracted))
      say(n, "{} is multiplied by the root of what it contracted; did you mean / sqrt({})?",
          written_as(p_, product), p_.axes[of].name);
  }

  // Numbers for each distance, which no argument decides, and which hide nothing.
  bool is_of_positions(node_id n) const {
    if (!positions_[n]) return false;
    return !depends_on(p_, n, [&](node_id m) {
      return p_[m].kind == op::input || p_[m].kind == op::param || p_[m].type == b8;
    });
  }

  // softmax<kv>(tanh(scores / 50))
  void cap_is_lost(node_id n) {
    const node_id scaled = inner_of(p_, p_[n].in[0]);
    if (!is(op::div, scaled) || !is_number(p_, p_[scaled].in[1])) return;
    const double cap = p_[p_[scaled].in[1]].value;
    if (cap < least_cap || keys_of_scores(p_, users_, n).empty()) return;
    const auto scales = [&](node_id user) {
      return p_[user].kind == op::mul || !p_[user].name.empty();
    };
    if (std::any_of(users_[n].begin(), users_[n].end(), scales)) return;
    say(n, "the scores lie between -1 and 1; did you mean {0:g} * {1}?", cap, written_as(p_, n));
  }

  static constexpr double least_cap = 4;
  // tanh(scores / 50) * 30. A slope near 1 may be meant, as in 1.7159 tanh(2 x / 3).
  void two_caps(node_id n, node_id tanh, node_id cap) {
    tanh = inner_of(p_, tanh);
    if (!is(op::tanh, tanh) || !is_number(p_, cap) || p_[cap].value < least_cap) return;
    const node_id scaled = inner_of(p_, p_[tanh].in[0]);
    if (!is(op::div, scaled) || !is_number(p_, p_[scaled].in[1])) return;
    const double inside = p_[p_[scaled].in[1]].value;
    if (inside < least_cap || inside == p_[cap].value || keys_of_scores(p_, users_, n).empty())
      return;
    const node_id product = inner_of(p_, p_[scaled].in[0]);
    if (is(op::dot, product) && is_root_of(p_[scaled].in[1], p_[product].over))
      return;  // their own scale
    const auto divides = [&](node_id user) {
      return is(op::div, user) && is_number(p_, p_[user].in[1]) &&
             p_[p_[user].in[1]].value == p_[cap].value;
    };
    if (std::any_of(users_[n].begin(), users_[n].end(), divides)) return;  // cap_cancels
    say(n, "the scores are divided by {:g} and multiplied by {:g}; did you mean one cap for both?",
        inside, p_[cap].value);
  }

  // dot<kv>(softmax<kv>(scores), V) * sigmoid(sink - logsumexp<kv>(scores))
  void share_of_others(node_id n, node_id result, node_id share) {
    if (!is(op::dot, result) || !is(op::sigmoid, share) || !is(op::sub, p_[share].in[0])) return;
    const node_id difference = p_[share].in[0], total = inner_of(p_, p_[difference].in[1]);
    if (p_[total].kind != op::logsumexp) return;
    for (node_id weights : p_[result].in) {
      weights = inner_of(p_, weights);
      if (!is(op::softmax, weights) || p_[weights].in[0] != p_[total].in[0] ||
          !same_set(p_[weights].over, p_[total].over))
        continue;
      const std::string other = written_as(p_, p_[difference].in[0]);
      say(n, "{0} is the share of {1}, not of {2}; did you mean sigmoid({3} - {1})?",
          written_as(p_, share), other, written_as(p_, weights), written_as(p_, total));
    }
  }

  const std::vector<bool> positions_;
};

}  // namespace

std::vector<slip> scale_slips(const program &p) { return scale_finder(p).run(); }

}  // namespace qkv::codegen
