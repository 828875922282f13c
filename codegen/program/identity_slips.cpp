// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/identity_slips.hpp"
#include "codegen/program/walk.hpp"

#include <algorithm>
#include <optional>

#include "codegen/program/queries.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

class identity_finder : slip_finder {
 public:
  explicit identity_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      switch (p_[n].kind) {
        case op::log:
          of_logits(n);
          break;
        case op::sigmoid:
          twice_a_sigmoid(n);
          break;
        case op::add:
          gumbel(n);
          break;
        case op::min:
        case op::max:
          clamp(n);
          break;
        case op::cast:
          share_as_whole_number(n);
          break;
        case op::softmax:
          prefers_distance(n);
          break;
        case op::and_:
        case op::or_:
          condition_twice(n);
          break;
        case op::less_equal:
        case op::greater_equal:
        case op::less:
        case op::greater:
          beside_extreme(n);
          break;
        default:
          break;
      }
    }
    return std::move(slips_);
  }

 private:
  // image && image, of which one was to be renamed to the keys
  void condition_twice(node_id n) {
    if (p_[n].in[0] == p_[n].in[1])
      say(n, "is {} itself; did you mean another condition, such as rename<..> of it?",
          written_as(p_, p_[n].in[0]));
  }

  // p <= max<experts>(p)
  void beside_extreme(node_id n) {
    const bool is_less = p_[n].kind == op::less || p_[n].kind == op::less_equal,
               has_equal = p_[n].kind == op::less_equal || p_[n].kind == op::greater_equal;
    for (const std::size_t k : {0, 1}) {
      const node_id x = inner(n, k), extreme = inner(n, 1 - k);
      const bool is_most = is(op::max_over, extreme);
      if ((!is_most && !is(op::min_over, extreme)) || inner(extreme) != x) continue;
      const bool is_below = is_less == (k == 0);  // x < extreme
      if (is_below == is_most && has_equal)
        say(n, "is always true; did you mean {}?", is_below ? ">=" : "<=");
      if (is_below != is_most && !has_equal)
        say(n, "is never true; did you mean {}?", is_below ? "<=" : ">=");
    }
  }

  node_id inner(node_id n, std::size_t operand = 0) const {
    return inner_of(p_, p_[n].in[operand]);
  }
  std::string label(node_id n) const { return written_as(p_, n); }

  // x of x + 1e-6
  node_id without_number(node_id n) const {
    return is(op::add, n) ? inner(n, is_number(p_, inner(n)) ? 1 : 0) : n;
  }

  // log(take<vocabulary>(logits, ids)), where logits may be negative
  void of_logits(node_id n) {
    const node_id taken = without_number(inner(n));
    if (!is(op::take, taken) || !is(op::dot, inner(taken)) || makes_average(inner(taken))) return;
    say(n, "{0} are logits, which may be negative; did you mean {1} - logsumexp<{2}>({0})?",
        label(p_[taken].in[0]), label(taken), names_of(p_, p_[taken].over));
  }
  bool makes_average(node_id dot) const {
    return std::any_of(p_[dot].in.begin(), p_[dot].in.end(), [&](node_id w) {
      const op kind = p_[inner_of(p_, w)].kind;
      return makes_weights(kind) || kind == op::exp || kind == op::sigmoid;
    });
  }

  // softmax<kv>(sum<d_k>(d * d)), where d is a difference
  void prefers_distance(node_id n) {
    node_id s = inner(n);
    while (is(op::mask, s) || is(op::mul, s) || is(op::div, s)) {
      const bool is_number_first = is(op::mul, s) && is_number(p_, inner(s));
      const node_id by = inner(s, is_number_first ? 0 : 1);
      const bool is_mask = is(op::mask, s);
      const bool is_positive = is_number(p_, by) && p_[by].value > 0;
      const bool is_size = p_[by].kind == op::sqrt || p_[by].kind == op::size;
      if (!is_mask && !is_positive && !is_size) break;
      s = inner(s, is_number_first ? 1 : 0);
    }
    if (is(op::neg, s) && is(op::dot, inner(s)))
      say(n, "the least of {0} weighs most; did you leave a minus in?", label(p_[s].in[0]));
    if (!is(op::sum, s) || !is(op::mul, inner(s))) return;
    const node_id square = inner(s), d = inner(square);
    if (d != inner(square, 1) || !is(op::sub, d)) return;
    if (!varies_along(p_[d], p_[n].over)) return;
    const auto weighs_itself = [&](node_id user) {  // the hardest pairs of a loss
      return (p_[user].kind == op::mul || p_[user].kind == op::dot) &&
             std::any_of(p_[user].in.begin(), p_[user].in.end(), [&](node_id m) {
               return m != n && depends_on(p_, m, [&](node_id x) { return x == s; });
             });
    };
    if (std::any_of(users_[n].begin(), users_[n].end(), weighs_itself)) return;
    say(n, "{0} grows with the distance, so the farthest weighs most; did you mean -{0}?",
        label(s));
  }

  // x * sigmoid(sigmoid(g))
  void twice_a_sigmoid(node_id n) {
    const auto is_gated = [&](node_id user) { return p_[user].kind == op::mul; };
    if (is(op::sigmoid, inner(n)) && std::any_of(users_[n].begin(), users_[n].end(), is_gated))
      say(n, "lies between 0.5 and 0.73; leave one sigmoid out");
  }

  // logits + log(-log(uniform(..)))
  void gumbel(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id outer = inner(n, k);
      if (!is(op::log, outer) || !is(op::neg, inner(outer))) continue;
      const node_id log = inner(inner(outer));
      if (!is(op::log, log)) continue;
      if (!depends_on_uniform(p_[log].in[0])) continue;
      say(n, "{0} is Gumbel noise with the other sign; did you mean - {0}?", label(outer));
    }
  }
  bool depends_on_uniform(node_id n) const {
    n = inner_of(p_, n);
    if (p_[n].kind == op::uniform) return true;
    return p_[n].name.empty() && is_pointwise(p_[n].kind) &&
           std::any_of(p_[n].in.begin(), p_[n].in.end(),
                       [&](node_id m) { return depends_on_uniform(m); });
  }

  // min(max(x, 1.2), 0.8)
  void clamp(node_id n) {
    const op other = p_[n].kind == op::min ? op::max : op::min;
    for (const std::size_t k : {0, 1}) {
      const node_id end = inner(n, k), x = inner(n, 1 - k);
      if (!is_number(p_, end) || !is(other, x)) continue;
      for (const std::size_t m : {0, 1}) {
        const node_id begin = inner(x, m);
        if (!is_number(p_, begin)) continue;
        const double a = p_[begin].value, b = p_[end].value;
        if (p_[n].kind == op::min ? a < b : a > b) continue;
        return say(
            n, "is {0:g} at every position; did you exchange min and max? if it is meant, {0:g}",
            b);
      }
    }
  }

  // cast<i32>(index(seq) / size(seq))
  void share_as_whole_number(node_id n) {
    const node_id share = p_[n].in[0];
    if (p_[n].type != i32 || !is(op::div, share)) return;
    const node_id position = inner(share), all = inner(share, 1);
    if (p_[position].kind != op::index || p_[all].kind != op::size) return;
    if (p_.axes[p_[position].over[0]].root != p_.axes[p_[all].over[0]].root) return;
    say(n, "is 0 at every position; did you mean to multiply {} before the division?",
        label(position));
  }
};

}  // namespace

std::vector<slip> identity_slips(const program &p) { return identity_finder(p).run(); }

}  // namespace qkv::codegen
