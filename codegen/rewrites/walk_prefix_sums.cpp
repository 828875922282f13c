// SPDX-License-Identifier: BSL-1.0
// Before: sum<d_k>(Q * cumsum<seq>(K * V))
// After:  scan<seq>(0, [](state, q, k, v) { next = state + k * v; return sum<d_k>(q * next); }, ..)
// Prefix sums of outer products, as causal linear attention has them: a matrix for each position,
// of which results need no more than its products. A scan stores the one of the position.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/walk.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// Prefix sums, and the sums that are all that becomes of them.
struct prefix_sums {
  node_id sums;
  std::set<node_id> results;
};

class finder {
 public:
  explicit finder(const program &p)
      : p_(p), users_(users_of(p)), walked_(walked_axes(p)), gaps_(steps_with_gaps(p)) {}

  std::vector<prefix_sums> run() const {
    std::vector<prefix_sums> all;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      prefix_sums c{n, {}};
      if (is_of_matrices(n) && is_of_products(p_[n].in[0], n) && collect(n, c) &&
          std::all_of(c.results.begin(), c.results.end(), [&](node_id r) { return fits(r, n); }) &&
          std::none_of(all.begin(), all.end(), [&](const prefix_sums &a) { return needs(a, n); }))
        all.push_back(std::move(c));
    }
    return all;
  }

 private:
  bool is_of_matrices(node_id n) const {
    const node &x = p_[n];
    return x.kind == op::cumsum && x.over.size() == 1 && is_floating(x.type) && !gaps_[n] &&
           !gaps_[x.in[0]] && walked_[n] < 0 &&
           std::count_if(
               x.shape.begin(), x.shape.end(),
               [&](axis_id a) { return !p_.axes[a].batch && !has(x.over, a); }) > 1;
  }

  bool is_wide(node_id n, node_id sums) const { return contains(p_[n].shape, p_[sums].shape); }

  bool keeps_position(node_id n) const {
    const op kind = p_[n].kind;
    return (is_pointwise(kind) || kind == op::broadcast) && !gaps_[n];
  }

  // Steps as large as the sums are recomputed, from smaller ones.
  bool is_of_products(node_id n, node_id sums) const {
    if (!is_wide(n, sums)) return !gaps_[n];
    return keeps_position(n) && all_operands(n, [&](node_id m) { return is_of_products(m, sums); });
  }

  // The same, beside the sums; smaller steps must not wait for them.
  bool is_beside(node_id n, node_id sums) const {
    if (n == sums) return true;
    if (!is_wide(n, sums))
      return !gaps_[n] && !depends_on(p_, n, [&](node_id m) { return m == sums; });
    return keeps_position(n) && all_operands(n, [&](node_id m) { return is_beside(m, sums); });
  }

  bool fits(node_id result, node_id sums) const {
    return all_operands(result, [&](node_id m) { return is_beside(m, sums); });
  }

  // True if results of these sums are made of others: a scan gives all its results at once, so none
  // of those may need these in turn.
  bool needs(const prefix_sums &c, node_id others) const {
    return std::any_of(c.results.begin(), c.results.end(), [&](node_id result) {
      return depends_on(p_, result, [&](node_id n) { return n == others; });
    });
  }

  template <class F>
  bool all_operands(node_id n, F holds) const {
    return std::all_of(p_[n].in.begin(), p_[n].in.end(), holds);
  }

  // True if all uses end in sums over other axes.
  bool collect(node_id n, prefix_sums &c) const {
    return !users_[n].empty() && std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      const node &x = p_[user];
      const axis_id along = p_[c.sums].over[0];
      if (x.kind == op::dot || x.kind == op::sum || x.kind == op::mean) {
        c.results.insert(user);
        return x.type == p_[c.sums].type && !has(x.over, along) && varies_along(p_[c.sums], x.over);
      }
      return keeps_position(user) && is_wide(user, c.sums) && collect(user, c);
    });
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  const std::vector<axis_id> walked_;
  const std::vector<bool> gaps_;
};

class walking {
 public:
  explicit walking(const program &p) : p_(p), r_(p) {
    for (prefix_sums &c : finder(p).run())
      for (const node_id result : c.results) of_result_[result] = c.sums;
    for (const node &n : p.nodes)
      if (n.kind == op::carried) number_ = std::max(number_, n.value + 1);
  }

  program run() {
    if (of_result_.empty()) return p_;
    node_id at = 0;
    return r_.run([&](node n) {
      const auto found = of_result_.find(at++);
      return found == of_result_.end() ? r_.put(std::move(n)) : put_scan(found->second, at - 1);
    });
  }

 private:
  // The steps of a scan at a position, by those of the old program.
  struct body {
    node_id state = -1, next = -1;
    std::map<node_id, node_id> here;
  };

  node_id put_scan(node_id sums, node_id result) {
    body &b = bodies_[sums];
    if (b.state < 0) begin(sums, b);
    node n = p_[result];
    n.kind = op::scan;
    n.name.clear();
    n.over = p_[sums].over;
    n.in = {b.state, b.next, put_here(result, sums, b)};
    return r_.put(std::move(n));
  }

  void begin(node_id sums, body &b) {
    const node &x = p_[sums];
    node zeros;
    zeros.kind = op::broadcast;
    zeros.type = x.type;
    zeros.in = {r_.number(0, x.type)};
    zeros.shape = zeros.over = without(x.shape, x.over);
    node state = zeros;
    state.kind = op::carried;
    state.over = x.over;
    state.in = {r_.put(std::move(zeros))};
    state.value = number_++;
    b.state = r_.put(std::move(state));
    node next;
    next.kind = op::add;
    next.type = x.type;
    next.shape = without(x.shape, x.over);
    next.in = {b.state, put_here(x.in[0], sums, b)};
    b.next = b.here[sums] = r_.put(std::move(next));
  }

  node_id put_here(node_id old, node_id sums, body &b) {
    if (const auto it = b.here.find(old); it != b.here.end()) return it->second;
    const std::vector<axis_id> &along = p_[sums].over;
    const bool is_result = of_result_.count(old) && of_result_.at(old) == sums;
    if (!is_result && !contains(p_[old].shape, p_[sums].shape)) {
      if (!has(p_[old].shape, along[0])) return r_.now(old);
      node element;
      element.kind = op::element;
      element.type = p_[old].type;
      element.in = {r_.now(old), b.state};
      element.over = along;
      element.shape = without(p_[old].shape, along);
      return b.here[old] = r_.put(std::move(element));
    }
    node n = p_[old];
    n.name.clear();
    n.shape = without(n.shape, along);
    if (n.kind == op::broadcast) n.over = without(n.over, along);
    for (node_id &operand : n.in) operand = put_here(operand, sums, b);
    if (n.kind == op::broadcast && n.over.empty()) return b.here[old] = n.in[0];
    return b.here[old] = r_.put(std::move(n));
  }

  const program &p_;
  rebuild r_;
  std::map<node_id, node_id> of_result_;  // -> the prefix sums
  std::map<node_id, body> bodies_;        // of prefix sums
  double number_ = 0;                     // each scan has a state of its own
};

}  // namespace

program walk_prefix_sums(const program &p) { return walking(p).run(); }

}  // namespace qkv::codegen
