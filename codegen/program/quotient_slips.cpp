// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/quotient_slips.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class quotient_finder : slip_finder {
 public:
  explicit quotient_finder(const program &p) : slip_finder(p), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (!x.name.empty()) continue;
      if (x.kind == op::div) divided(n, inner(x.in[0]), without_epsilon(x.in[1]));
      if (x.kind == op::normalize) of_both_signs(n, inner(x.in[0]));
      if (x.kind == op::mul)
        for (const std::size_t k : {0, 1}) multiplied(n, x.in[k], x.in[1 - k]);
      if (x.kind == op::div) by_number_of_queries(n, inner(x.in[1]));
      if (x.kind == op::sub) {
        less_mean(n, inner(x.in[0]), inner(x.in[1]));
        if (const node_id log = inner(x.in[1]); is(op::log, log))
          by_number_of_queries(n, inner(p_[log].in[0]));
      }
    }
    return std::move(slips_);
  }

 private:
  node_id inner(node_id n) const { return inner_of(p_, n); }

  // where(keep, x, 0)
  bool is_zeroed(node_id n) const {
    return is(op::where, n) && is_number(p_, p_[n].in[2]) && p_[p_[n].in[2]].value == 0;
  }
  bool is_times_itself(node_id square, node_id x) const {
    return is(op::mul, square) && inner(p_[square].in[0]) == x && inner(p_[square].in[1]) == x;
  }

  // mask(x, keep), where(keep, x, 0)
  struct partly_hidden {
    node_id shown, keep;
  };
  std::optional<partly_hidden> hidden_in(node_id n) const {
    if (is(op::mask, n)) return partly_hidden{inner(p_[n].in[0]), p_[n].in[1]};
    if (is_zeroed(n)) return partly_hidden{inner(p_[n].in[1]), p_[n].in[0]};
    return {};
  }

  // relu(scores) / size(seq), sigmoid(scores - log(size(seq))), whose keys are another axis
  void by_number_of_queries(node_id n, node_id size) {
    if (p_[size].kind != op::size) return;
    const axis_id of = p_.axes[p_[size].over[0]].root;
    const auto is_query = [&](axis_id a) { return p_.axes[a].root == of; };
    if (p_.axes[of].size >= 0 || std::none_of(p_[n].shape.begin(), p_[n].shape.end(), is_query))
      return;
    axis_id key = -1;
    walk_users(users_, n, [&](node_id user, node_id step) {
      if (is(op::dot, user))
        for (const axis_id a : p_[user].over)
          if (!is_query(a) && static_size(p_, a) < 0 && has(p_[step].shape, a) &&
              has(p_[n].shape, a))
            key = a;
      return p_[user].name.empty() && is_pointwise(p_[user].kind);
    });
    if (key >= 0)
      say(n,
          "weights along {0} are divided by the number of queries; did you mean size({0})? if it "
          "is meant, let<..>(size({1}))",
          p_.axes[key].name, p_.axes[p_[size].over[0]].name);
  }

  // sum<kv>(w) + 1e-6
  node_id without_epsilon(node_id n) const {
    n = inner(n);
    if (is(op::add, n) || is(op::max, n))
      for (const std::size_t k : {0, 1})
        if (is_number(p_, p_[n].in[1 - k])) return inner(p_[n].in[k]);
    return n;
  }

  void divided(node_id n, node_id x, node_id by) {
    if (is(op::sum, by)) {
      const std::vector<axis_id> &keys = p_[by].over;
      if (is(op::dot, x) && same_set(p_[x].over, keys)) {
        for (node_id weights : p_[x].in) adds_up_others(n, weights, by);
      } else {
        adds_up_others(n, x, by);
      }
    }
    if (is(op::sum, by) && inner(p_[by].in[0]) == x) may_add_up_to_zero(n, x, by);
    if (is(op::mean, by)) by_mean_of_squares(n, x, by);
    if (is(op::sqrt, by)) by_root_of_mean(n, x, p_[by].in[0]);
    if (is(op::sum, x) && is(op::size, by)) {
      by_another_size(n, x, by);
      by_hidden_positions(n, x, by);
    }
    if (is(op::cumsum, x) && is(op::size, by)) by_whole_size(n, x, by);
    by_sum_of_all(n, x, by);
    by_sum_without_sink(n, by);
    if (is(op::dot, by) && is(op::dot, x)) {
      unmapped_keys(n, x, by);
      for (const node_id weights : p_[x].in) by_hidden_keys(n, weights, by);
      for (const std::size_t k : {0, 1}) {
        const node_id q = inner(p_[by].in[k]), keys = inner(p_[by].in[1 - k]);
        if (is(op::mean, keys)) mean_of_keys(n, x, keys);
        if (is(op::sum, keys)) unmapped_products(n, q, inner(p_[keys].in[0]));
      }
    }
  }

  // dot<kv>(e, V) / sum<kv>(e), where e = exp(scores - max(max<kv>(scores), sink))
  void by_sum_without_sink(node_id n, node_id total) {
    if (!is(op::sum, total)) return;
    const node_id e = inner(p_[total].in[0]);
    if (!is(op::exp, e)) return;
    const node_id shifted = inner(p_[e].in[0]);
    if (!is(op::sub, shifted)) return;
    const node_id most = inner(p_[shifted].in[1]);
    if (!is(op::max, most)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id sink = inner(p_[most].in[k]), of_keys = inner(p_[most].in[1 - k]);
      if (!is_argument(p_[sink]) || !is(op::max_over, of_keys)) continue;
      say(n, "{0} cancels, because it is in {1} alone; did you mean {2} + exp({0} - {1})?",
          written_as(p_, sink), written_as(p_, most), written_as(p_, total));
    }
  }

  // dot<kv>(mask(dot<d>(q, k), keep), V) / dot<d>(q, sum<kv>(k))
  void by_hidden_keys(node_id n, node_id weights, node_id by) {
    weights = inner(weights);
    const auto hidden = hidden_in(weights);
    if (!hidden || !is(op::dot, hidden->shown)) return;
    const node_id a = inner(p_[hidden->shown].in[0]), b = inner(p_[hidden->shown].in[1]);
    for (const std::size_t k : {0, 1}) {
      const node_id q = inner(p_[by].in[k]), total = inner(p_[by].in[1 - k]);
      if (!is(op::sum, total) || !varies_along(p_[weights], p_[total].over)) continue;
      const node_id added = inner(p_[total].in[0]);
      if (!(a == q && b == added) && !(b == q && a == added)) continue;
      say(n, "{} leaves out keys that {} adds up; did you mean sum<{}>({})?",
          written_as(p_, weights), written_as(p_, by), names_of(p_, p_[total].over),
          written_as(p_, weights));
      return;
    }
  }

  // x / (mean(x * x) + epsilon), and times it.
  void by_mean_of_squares(node_id n, node_id x, node_id mean) {
    const node_id square = inner(p_[mean].in[0]);
    const bool is_power = is(op::pow, square) && inner(p_[square].in[0]) == x &&
                          is_number(p_, p_[square].in[1]) && p_[p_[square].in[1]].value == 2;
    if (!is_power && !is_times_itself(square, x)) return;
    const std::string label = written_as(p_, x);
    const bool is_one_word = label.find(' ') == std::string::npos;
    say(n, "{0} is {1} by the mean of its square; did you mean {2} * rsqrt(..) of it?", label,
        p_[n].kind == op::div ? "divided" : "multiplied", is_one_word ? label : "(" + label + ")");
  }

  // x / sqrt(mean(x) + epsilon), x * rsqrt(mean(x) + epsilon)
  void by_root_of_mean(node_id n, node_id x, node_id square) {
    if (is(op::max, inner(square))) return;  // of the mean and a positive number, say
    const node_id mean = without_epsilon(square);
    if (!is(op::mean, mean) || inner(p_[mean].in[0]) != x || signs_[x] != sign::unknown) return;
    say(n, "{0} may be negative, so that its mean has no root; did you mean mean<{1}>({0} * {0})?",
        written_as(p_, x), names_of(p_, p_[mean].over));
  }

  // mean(x * x) - mean(x)
  void less_mean(node_id n, node_id squares, node_id mean) {
    if (!is(op::mean, squares) || !is(op::mean, mean)) return;
    if (!same_set(p_[squares].over, p_[mean].over)) return;
    if (!is_times_itself(inner(p_[squares].in[0]), inner(p_[mean].in[0]))) return;
    say(n, "the variance takes off the square of {0}; did you mean {0} * {0}?",
        written_as(p_, mean));
  }

  // x * W, whose sum is a contraction: a number of it is a share, not a mean
  bool is_projection(node_id product) const {
    return is(op::mul, product) && (p_[inner(p_[product].in[0])].kind == op::param ||
                                    p_[inner(p_[product].in[1])].kind == op::param);
  }

  // sum<kv>(x) / size(seq)
  void by_another_size(node_id n, node_id sum, node_id by) {
    const std::vector<axis_id> &over = p_[sum].over;
    if (over.size() != 1 || is_projection(inner(p_[sum].in[0]))) return;
    const node &counted_one = p_[unconverted(p_, p_[sum].in[0])];
    if (counted_one.type == b8 || counted_one.kind == op::number) return;
    const axis &added = p_.axes[over[0]], &counted = p_.axes[p_[by].over[0]];
    if (added.root != counted.root)
      say(n, "{0} adds up {1}, but is divided by size({2}); did you mean size({1})?",
          written_as(p_, sum), added.name, counted.name);
  }

  // sum<seq>(where(index(seq) < length, x, 0)) / size(seq)
  void by_hidden_positions(node_id n, node_id sum, node_id by) {
    const node_id x = inner(p_[sum].in[0]);
    if (!is_zeroed(x)) return;
    const axis_id along = p_[sum].over[0];
    if (p_[sum].over.size() != 1 || p_.axes[along].root != p_.axes[p_[by].over[0]].root) return;
    if (!has(p_[p_[x].in[0]].shape, along) || !p_[p_[x].in[0]].name.empty()) return;
    say(n, "{0} leaves out positions that size({1}) counts; did you mean mean<{1}>(mask(..))?",
        written_as(p_, sum), p_.axes[along].name);
  }

  // cumsum<seq>(x) / size(seq)
  void by_whole_size(node_id n, node_id prefixes, node_id by) {
    const axis &along = p_.axes[p_[prefixes].over[0]];
    const auto bends = [&](node_id user) {  // an integral in steps of 1 / size
      return p_[user].kind == op::neg || p_[user].kind == op::exp;
    };
    if (std::any_of(users_[n].begin(), users_[n].end(), bends)) return;
    if (along.root == p_.axes[p_[by].over[0]].root)
      say(n,
          "{0} adds up index({1}) + 1 positions, not size({1}); did you mean {0} / (index({1}) + "
          "1)?",
          written_as(p_, prefixes), along.name);
  }

  // dot<d>(q, cumsum<seq>(k * v)) / dot<d>(q, sum<seq>(k)). A share of the whole, as
  // cumsum<seq>(x) / sum<seq>(x), is right.
  void by_sum_of_all(node_id n, node_id x, node_id by) {
    for (const node_id all : products_of(by)) {
      if (!is(op::sum, all)) continue;
      for (const node_id prefixes : products_of(x)) {
        if (!is(op::cumsum, prefixes) || inner(p_[prefixes].in[0]) == inner(p_[all].in[0]))
          continue;
        const axis &along = p_.axes[p_[prefixes].over[0]];
        if (p_[all].over.size() != 1 || along.root != p_.axes[p_[all].over[0]].root) continue;
        say(n,
            "{0} ends at each position of {1}, but {2} adds up all; did you mean cumsum<{1}>({3})?",
            written_as(p_, prefixes), along.name, written_as(p_, all),
            written_as(p_, p_[all].in[0]));
        return;
      }
    }
  }
  // The step, the operands of the contraction, of the product or of the sum of products that it is.
  std::vector<node_id> products_of(node_id n) const {
    if (is(op::sum, n) && is(op::mul, inner(p_[n].in[0]))) n = inner(p_[n].in[0]);
    if (!is(op::dot, n) && !is(op::mul, n)) return {n};
    return {inner(p_[n].in[0]), inner(p_[n].in[1])};
  }

  // scores / sum<kv>(scores). Nobody scales products of features, as the quotient is the same.
  void may_add_up_to_zero(node_id n, node_id x, node_id by) {
    const node_id product = unscaled(p_, x);
    if (product == x || !is(op::dot, product) || signs_[product] != sign::unknown) return;
    say(n, "{0} may be negative, so that its sum can be 0; did you mean softmax<{1}>({0})?",
        written_as(p_, x), names_of(p_, p_[by].over));
  }

  // normalize<kv>(tanh(scores))
  void of_both_signs(node_id n, node_id x) {
    if (!is(op::tanh, x)) return;
    say(n,
        "{0} may be negative, so that its sum can be 0; did you mean sigmoid, or "
        "softmax<{1}>({0})?",
        written_as(p_, x), names_of(p_, p_[n].over));
  }

  // dot<d>(q, dot<kv>(k, V)) / dot<d>(q, mean<kv>(k))
  void mean_of_keys(node_id n, node_id x, node_id mean) {
    std::set<node_id> products;
    walk(p_, x, [&](node_id m) { return is(op::dot, inner(m)); }, products);
    for (const node_id m : products)
      if (is(op::dot, m) && same_set(p_[m].over, p_[mean].over)) {
        say(n, "the dividend adds up {0}, but {1} is a mean; did you mean sum<{0}>({2})?",
            names_of(p_, p_[mean].over), written_as(p_, mean), written_as(p_, p_[mean].in[0]));
        return;
      }
  }

  // dot<d>(q, dot<kv>(k, V)) / dot<d>(q, sum<kv>(k)) of two projections.
  void unmapped_products(node_id n, node_id q, node_id k) {
    for (const node_id x : {q, k})
      if (!is(op::dot, unscaled(p_, x)) || signs_[x] != sign::unknown) return;
    say(n,
        "products of {0} and {1} may be negative, so that their sum can be 0; did you mean "
        "elu_plus_one of both?",
        written_as(p_, q), written_as(p_, k));
  }

  // exp(x) / sum<kv>(x), or weights without the masked ones, divided by the sum of all.
  void adds_up_others(node_id n, node_id weights, node_id total) {
    const node_id added = inner(p_[total].in[0]), w = inner(weights);
    const bool is_mapped = is(op::exp, w) || is(op::relu, w) || is(op::sigmoid, w) ||
                           is(op::elu, w) || is(op::silu, w) || is(op::gelu, w) || is(op::pow, w);
    const bool lacks_map = is_mapped && w != added && is_shifted(p_[w].in[0], added);
    const auto hidden = hidden_in(w);
    const bool hides =
        hidden && hidden->shown == added && varies_along(p_[hidden->keep], p_[total].over);
    if (lacks_map || hides)
      say(n, "{0} is divided by a sum of {1}; did you mean the sum of {0}?", written_as(p_, w),
          written_as(p_, added));
  }
  // x, or x less what does not depend on the key.
  bool is_shifted(node_id x, node_id of) const {
    x = inner(x);
    return x == of || (is(op::sub, x) && inner(p_[x].in[0]) == of);
  }

  // dot<kv>(dot<d>(f(q), f(k)), V) / dot<d>(f(q), sum<kv>(k)), in either order of the contractions.
  void unmapped_keys(node_id n, node_id x, node_id by) {
    for (node_id total : p_[by].in) {
      total = inner(total);
      if (!is(op::sum, total)) continue;
      const node_id added = inner(p_[total].in[0]);
      const std::vector<axis_id> &keys = p_[total].over;
      std::set<node_id> products;
      walk(p_, x, [&](node_id m) { return is(op::dot, inner(m)); }, products);
      for (node_id m : products) {
        m = inner(m);
        if (is(op::dot, m) || m == added || !varies_along(p_[m], keys)) continue;
        if (p_[m].shape.size() != p_[added].shape.size() || !is_made_of(m, added)) continue;
        say(n, "weights are products of {}, but the divisor adds up {}; did you mean sum<{}>({})?",
            written_as(p_, m), written_as(p_, added), names_of(p_, keys), written_as(p_, m));
        return;
      }
    }
  }
  // By functions of one element.
  bool is_made_of(node_id n, node_id of) const {
    const auto enter = [&](node_id m) {
      return m != of && p_[m].name.empty() && is_pointwise(p_[m].kind);
    };
    std::set<node_id> seen;
    walk(p_, n, enter, seen);
    return seen.count(of) > 0;
  }

  void multiplied(node_id n, node_id x, node_id by) {
    uncentred(n, x, by);
    if (const node_id mean = without_epsilon(by); is(op::mean, mean))
      by_mean_of_squares(n, inner(x), mean);
    if (const node_id root = inner(by); is(op::rsqrt, root))
      by_root_of_mean(n, inner(x), p_[root].in[0]);
  }

  // (x - mean(x)) * rsqrt(mean(x * x) + epsilon)
  void uncentred(node_id n, node_id centred, node_id scale) {
    centred = inner(centred), scale = inner(scale);
    if (!is(op::sub, centred) || !is(op::rsqrt, scale)) return;
    const node_id x = inner(p_[centred].in[0]), mean = inner(p_[centred].in[1]);
    const node_id squares = without_epsilon(p_[scale].in[0]);
    if (!is(op::mean, mean) || inner(p_[mean].in[0]) != x || !is(op::mean, squares)) return;
    const node_id square = inner(p_[squares].in[0]);
    if (!is_times_itself(square, x)) return;
    say(n,
        "{} is centred, but what divides it is the mean of {}; did you mean the mean of its own "
        "square?",
        written_as(p_, centred), written_as(p_, square));
  }

  const std::vector<sign> signs_;
};

}  // namespace

std::vector<slip> quotient_slips(const program &p) { return quotient_finder(p).run(); }

}  // namespace qkv::codegen
