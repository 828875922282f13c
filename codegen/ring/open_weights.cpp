// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/open_weights.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "codegen/program/assemble.hpp"
#include "codegen/program/formulas.hpp"
#include "codegen/program/linear_uses.hpp"
#include "codegen/program/presence.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

class opening {
 public:
  opening(const program &p, axis_id query, axis_id key)
      : p_(p), query_(query), key_(key), users_(users_of(p)), f_(without_steps(p)), here_(f_) {
    std::set<node_id> taken;  // products that have their weights
    for (node_id n = 0; n < count(); ++n) {
      if (!is_over_keys_of_pairs(n) || !makes_weights(p[n].kind)) continue;
      const auto products = products_linear_in(p, users_, n, p[n].over);
      if (!products) continue;
      if (p[n].kind == op::normalize) {
        for (node_id product : *products) totals_[product].push_back(n);
        divided_later_.insert(n);
      } else if (std::none_of(products->begin(), products->end(),
                              [&](node_id product) { return taken.count(product); })) {
        taken.insert(products->begin(), products->end());
        kept_.insert(n);
      }
    }
  }

  program run() {
    for (node_id n = 0; n < count(); ++n) at_.push_back(opened(n));
    program made = f_.take();
    for (node_id n : p_.arguments) made.arguments.push_back(at_[n]);
    for (node_id n : p_.outputs) made.outputs.push_back(at_[n]);
    return made;
  }

 private:
  node_id count() const { return static_cast<node_id>(p_.nodes.size()); }
  bool is_over_tokens(node_id n) const { return has(p_[n].over, query_) || has(p_[n].over, key_); }
  bool is_over_keys_of_pairs(node_id n) const {
    const node &x = p_[n];
    return has(x.over, key_) && !has(x.over, query_) && has(x.shape, query_);
  }

  node_id copy(node_id n) {
    node x = p_[n];
    for (node_id &operand : x.in) operand = at_[operand];
    return f_.put(std::move(x));
  }

  node_id opened(node_id n) {
    const node &x = p_[n];
    if (is_over_tokens(n)) {
      if (x.kind == op::softmax && !kept_.count(n)) return weights(n, exponentials(x));
      if (x.kind == op::normalize)
        return divided_later_.count(n) ? operand(x) : weights(n, divided(x));
      if (x.kind == op::mean) return mean(x);
    }
    node_id made = copy(n);
    if (const auto totals = totals_.find(n); totals != totals_.end())
      for (node_id weights : totals->second) made = quotient(made, total(p_[weights]));
    return made;
  }

  // The operand in the type of the result.
  node_id operand(const node &x) { return f_.cast(at_[x.in[0]], x.type); }
  node_id total(const node &x) { return f_.reduce(op::sum, operand(x), x.over); }

  // The weight of what a mask hides is 0, and no product with it counts: where products and sums
  // are all that follows, it may stay absent.
  node_id weights(node_id n, node_id made) { return only_summed(n) ? made : here_.filled(made); }
  bool only_summed(node_id n) const {
    return std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      const op k = p_[user].kind;
      return k == op::dot || k == op::sum || (k == op::mul && only_summed(user));
    });
  }

  node_id quotient(node_id a, node_id total) {
    const node_id zero = f_.number(0, f_.type(a));
    return f_.where(f_.binary(op::equal, total, zero), zero, f_.div(a, total));
  }
  node_id divided(const node &x) { return quotient(operand(x), total(x)); }

  node_id exponentials(const node &x) {
    const node_id s = operand(x), lse = f_.reduce(op::logsumexp, s, x.over);
    if (x.less_maximum) return f_.unary(op::exp, f_.sub(s, lse));
    const node_id lowest = f_.number(-std::numeric_limits<double>::infinity(), x.type);
    return f_.unary(
        op::exp, f_.sub(s, f_.where(f_.binary(op::equal, lse, lowest), f_.number(0, x.type), lse)));
  }

  // Of the elements that are present.
  node_id mean(const node &x) {
    const node_id s = operand(x), here = here_.of(s);
    node_id n = f_.number(1, x.type);
    if (here == everywhere)
      for (axis_id a : x.over) n = f_.mul(n, f_.cast(f_.size(a), x.type));
    else
      n = f_.reduce(op::sum, f_.cast(f_.expand(here, f_.shape(s)), x.type), x.over);
    return quotient(total(x), n);
  }

  const program &p_;
  const axis_id query_, key_;
  const std::vector<std::vector<node_id>> users_;
  formulas f_;
  presence here_;
  std::vector<node_id> at_;
  std::set<node_id> kept_, divided_later_;
  std::map<node_id, std::vector<node_id>> totals_;  // by product: the weights it is divided by
};

}  // namespace

program with_open_weights(const program &p, axis_id query, axis_id key) {
  return opening(p, query, key).run();
}

}  // namespace qkv::codegen
