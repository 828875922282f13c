// SPDX-License-Identifier: BSL-1.0
//   e = exp(s - max<kv>(s)), e / sum<kv>(e)   ->  softmax<kv>(s)
//   e = exp(s - m), m = max(max<kv>(s), sink) ->  softmax<kv>(s) * exp(logsumexp<kv>(s) - m'), with
//   sum<kv>(e)                                ->  exp(logsumexp<kv>(s) - m')
//   m' = max(logsumexp<kv>(s), sink), where no result depends on the number that is subtracted
// Softmax written by hand: a maximum of its own would have to be known before the first key, and
// the scores would have to be stored. The logsumexp comes with the softmax, and as a shift it is as
// safe as the maximum, which it exceeds by log(size(kv)) at most. In rows that are all hidden it is
// taken for the lowest number, so that sums of e are 0 as before. They are 0, too, in rows of which
// every score is -inf, where those by hand are NaN; so is a softmax of them behind a mask.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "codegen/program/cancelled_shift.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/walk.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// exp(scores - shift), where the shift is a maximum of these very scores, perhaps with others.
struct exponential {
  node_id scores, maximum, shift;
};

class closing {
 public:
  explicit closing(const program &p)
      : p_(p), users_(users_of(p)), masked_(masked_steps(p)), walked_(walked_axes(p)), r_(p) {
    std::set<node_id, std::greater<>> shifts;
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
      exponential e;
      if (!is_exponential(n, e) || !is_made_of_products(e.scores) || loses_digits(e) ||
          !only_weighs(n, e))
        continue;
      exponentials_.emplace(n, e);
      shifts.insert(e.shift);
    }
    // A maximum of several maxima is looked at before these.
    for (const node_id shift : shifts)
      if (is_cancelled(p, shift, cancelled_, sums_less(shift))) cancelled_.insert(shift);
  }

  program run() {
    if (exponentials_.empty()) return p_;
    node_id at = 0;
    return r_.run([&](node n) { return replaced(at++, std::move(n)); });
  }

 private:
  node_id replaced(node_id old, node n) {
    if (const auto e = normalised(old)) return named(put_softmax(e->second), old);
    if (cancelled_.count(old)) return shifts_[old] = shift_of(old);
    if (const auto e = exponentials_.find(old); e != exponentials_.end() && is_closed(e->second))
      return named(put_binary(op::mul, put_softmax(e->second), put_factor(e->second)), old);
    if (p_[old].kind == op::sum)
      if (const auto e = exponentials_.find(p_[old].in[0]);
          e != exponentials_.end() && is_closed(e->second) && p_[old].over == over(e->second))
        return named(put_factor(e->second), old);
    return r_.put(std::move(n));
  }

  node_id named(node_id now, node_id old) {
    r_.edit(now).name = p_[old].name;
    return now;
  }

  // The sums of exp(s - max<kv>(s)), one term of which is 1.
  std::set<node_id> sums_less(node_id maximum) const {
    std::set<node_id> sums;
    for (const auto &[n, e] : exponentials_)
      if (e.shift == maximum && e.maximum == maximum)
        for (const node_id user : users_[n])
          if (p_[user].kind == op::sum && p_[user].over == over(e)) sums.insert(user);
    return sums;
  }

  bool is_closed(const exponential &e) const { return cancelled_.count(e.shift) > 0; }
  const std::vector<axis_id> &over(const exponential &e) const { return p_[e.maximum].over; }

  bool is_exponential(node_id n, exponential &e) const {
    const node &x = p_[n];
    if (x.kind != op::exp || !is_floating(x.type) || walked_[n] >= 0) return false;
    const node &less = p_[x.in[0]];
    if (less.kind != op::sub) return false;
    e.scores = unbroadcast(p_, less.in[0]);
    e.shift = unbroadcast(p_, less.in[1]);
    e.maximum = maximum_in(e.shift, e.scores);
    const auto has_type = [&](node_id step) { return p_[step].type == x.type; };
    return e.maximum >= 0 && over(e).size() == 1 && has_type(e.scores) && has_type(e.maximum) &&
           has_type(e.shift) && p_[e.scores].shape == less.shape &&
           !varies_along(p_[e.shift], over(e)) &&
           without(p_[e.shift].shape, p_[e.scores].shape).empty();
  }

  node_id maximum_in(node_id n, node_id scores) const {
    n = unbroadcast(p_, n);
    const node &x = p_[n];
    if (x.kind == op::max_over && unbroadcast(p_, x.in[0]) == scores) return n;
    if (x.kind != op::max) return -1;
    const node_id a = maximum_in(x.in[0], scores);
    return a >= 0 ? a : maximum_in(x.in[1], scores);
  }

  // Numbers that are read from memory may be read twice.
  bool is_made_of_products(node_id scores) const {
    return depends_on(
        p_, scores, [&](node_id n) { return p_[n].kind == op::dot; },
        [&](node_id n) { return is_inlinable(p_, n); });
  }

  // Of scores that a large number fills, the logsumexp is that number alone: as a shift of other
  // scores, too, it would lose how many there are.
  bool loses_digits(const exponential &e) const {
    constexpr double large = 1e4;
    return e.shift != e.maximum &&
           depends_on(
               p_, e.scores,
               [&](node_id n) { return p_[n].kind == op::number && std::abs(p_[n].value) > large; },
               [&](node_id n) { return is_inlinable(p_, n); });
  }

  // True if every use multiplies, and ends in a sum over these axes: what a mask removes counts
  // there as little as a weight of 0 does.
  bool only_weighs(node_id n, const exponential &e) const {
    return !users_[n].empty() && std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      const node &x = p_[user];
      if ((x.kind == op::dot || x.kind == op::sum) && x.over == over(e)) return true;
      if (x.kind == op::div && x.in[0] == n && !divides_weights(x, e)) return false;
      return scales(x.kind, x.in[0] == n ? 0 : 1) && only_weighs(user, e);
    });
  }

  // True for quotients that are 0 where a weight is: of hidden scores, 0 / 0 would be NaN.
  bool divides_weights(const node &x, const exponential &e) const {
    const node &by = p_[unbroadcast(p_, x.in[1])];
    if (varies_along(by, over(e))) return false;
    if (!masked_[e.scores] || (e.shift == e.maximum && is_sum_of(by, x.in[0], e))) return true;
    return by.kind == op::add && std::any_of(by.in.begin(), by.in.end(), [&](node_id term) {
             const node &positive = p_[unbroadcast(p_, term)];
             return positive.kind == op::exp || (positive.kind == op::number && positive.value > 0);
           });
  }

  bool is_sum_of(const node &sum, node_id n, const exponential &e) const {
    return sum.kind == op::sum && sum.in[0] == n && sum.over == over(e);
  }

  using entry = std::pair<const node_id, exponential>;

  // e, if this is e / sum<kv>(e) with nothing but the maximum as its shift.
  const entry *normalised(node_id n) const {
    const node &x = p_[n];
    if (x.kind != op::div) return nullptr;
    const auto e = exponentials_.find(x.in[0]);
    if (e == exponentials_.end() || e->second.shift != e->second.maximum) return nullptr;
    const bool is_own = is_sum_of(p_[unbroadcast(p_, x.in[1])], e->first, e->second);
    return is_own && x.shape == p_[e->first].shape ? &*e : nullptr;
  }

  // Less their maximum alone, scores that are all -inf give NaN. Behind a mask, machines that share
  // keys could not tell them from hidden ones.
  node_id put_softmax(const exponential &e) {
    node n;
    n.kind = op::softmax;
    n.type = p_[e.scores].type;
    n.in = {r_.now(e.scores)};
    n.shape = p_[e.scores].shape;
    n.over = over(e);
    n.less_maximum = e.shift == e.maximum && !masked_[e.scores];
    return r_.put(std::move(n));
  }

  node_id put_logsumexp(node_id maximum) {
    node n = p_[maximum];
    n.kind = op::logsumexp;
    n.in = {r_.now(n.in[0])};
    n.name.clear();
    return r_.put(std::move(n));
  }

  // exp(logsumexp(s) - m'): the sum of all exp(s - m').
  node_id put_factor(const exponential &e) {
    const node_id less = put_binary(op::sub, put_logsumexp(e.maximum), shifts_.at(e.shift));
    node n;
    n.kind = op::exp;
    n.type = r_.to()[less].type;
    n.in = {less};
    n.shape = r_.to()[less].shape;
    return r_.put(std::move(n));
  }

  node_id put_binary(op kind, node_id a, node_id b) {
    node n;
    n.kind = kind;
    n.type = r_.to()[a].type;
    n.in = {a, b};
    n.shape = with(r_.to()[a].shape, r_.to()[b].shape);
    return r_.put(std::move(n));
  }

  // m': logsumexps in place of the maxima of scores.
  node_id shift_of(node_id n) {
    node x = p_[n];
    if (x.kind == op::max_over && is_maximum_of_scores(n)) {
      const double lowest =
          x.type == f64 ? -std::numeric_limits<double>::max() : -std::numeric_limits<float>::max();
      const node_id lse = put_logsumexp(n);
      return put_binary(op::max, lse, r_.number(lowest, x.type));
    }
    if (x.kind != op::max && x.kind != op::broadcast) return r_.now(n);
    for (node_id &operand : x.in) operand = shift_of(operand);
    x.name.clear();
    return r_.put(std::move(x));
  }

  bool is_maximum_of_scores(node_id n) const {
    return std::any_of(exponentials_.begin(), exponentials_.end(),
                       [&](const auto &e) { return e.second.maximum == n; });
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  const std::vector<bool> masked_;
  const std::vector<axis_id> walked_;
  rebuild r_;
  std::map<node_id, exponential> exponentials_;
  std::set<node_id> cancelled_;        // shifts
  std::map<node_id, node_id> shifts_;  // that of the old program -> m'
};

}  // namespace

program close_softmax(const program &p) { return closing(p).run(); }

}  // namespace qkv::codegen
