// SPDX-License-Identifier: BSL-1.0
// Before: dot<group, seq>(f(s), X)              After: sum<group>(dot<seq>(f(s), X))
//         dot<seq, kv>(f(s), g(seq, kv))               sum<seq>(sum<kv>(f(s) * g(seq, kv)))
//         sum<seq, kv>(f(s))                           sum<seq>(sum<kv>(f(s)))
// where s = dot<d>(Q, K). A sum over one axis of keys is streamed if nothing else stores the
// scores; one over several axes would store them, n * m numbers. Weights are left alone: their
// products are streamed as it is.
#include <map>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/walk.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

class splitting {
 public:
  explicit splitting(const program &p) : p_(p), walked_(walked_axes(p)), r_(p) { find(); }

  program run() {
    node_id at = 0;
    return r_.run([&](node n) {
      const node_id old = at++;
      return streamed_.count(old) ? product(old) : r_.put(std::move(n));
    });
  }

 private:
  // A step that can be computed anew for each pair.
  bool is_of_pairs(node_id n) const {
    return grows_with_pairs(p_, n) && !is_source(p_[n].kind) && walked_[n] < 0 &&
           (is_inlinable(p_, n) || p_[n].kind == op::dot);
  }

  // The products of pairs that a step is computed from by steps of each pair; `weights` becomes
  // true where weights are among these.
  std::set<node_id> products_below(node_id n, bool &weights) const {
    std::set<node_id> products, seen;
    for (node_id operand : p_[n].in)
      walk(
          p_, operand,
          [&](node_id x) {
            if (is_of_pairs(x) && p_[x].kind == op::dot) products.insert(x);
            weights = weights || (makes_weights(p_[x].kind) && grows_with_pairs(p_, x));
            return is_of_pairs(x);
          },
          seen);
    return products;
  }

  // Products and sums of pairs, of a result that is smaller than these.
  bool could_stream(node_id n) const {
    const node &x = p_[n];
    const bool is_sum = x.kind == op::sum && is_floating(x.type);
    if ((x.kind != op::dot && !is_sum) || grows_with_pairs(p_, n) || walked_[n] >= 0) return false;
    const auto n_keys =
        std::count_if(x.over.begin(), x.over.end(), [&](axis_id a) { return is_of_call(a); });
    if (is_sum) return n_keys > 0;
    if (!grows_with_pairs(p_, x.in[0]) || !grows_with_pairs(p_, x.in[1])) return n_keys == 1;
    const std::vector<axis_id> &a = p_[x.in[0]].shape, &b = p_[x.in[1]].shape;
    return n_keys > 0 && (contains(a, b) || contains(b, a));
  }

  // True if a step has further axes than the products below it, which would be computed anew at
  // each position along these: a hidden layer of every pair.
  bool is_wider(node_id n, const std::set<node_id> &products) const {
    return grows_with_pairs(p_, n) &&
           std::none_of(products.begin(), products.end(),
                        [&](node_id x) { return contains(p_[x].shape, p_[n].shape); });
  }
  bool streams(node_id n, const std::set<node_id> &products, bool weights) const {
    return could_stream(n) && !weights && !products.empty() &&
           std::none_of(p_[n].in.begin(), p_[n].in.end(),
                        [&](node_id operand) { return is_wider(operand, products); });
  }

  void find() {
    std::set<node_id> stored;  // products of pairs that are stored for another step
    std::map<node_id, std::set<node_id>> candidates;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is_of_pairs(n)) continue;
      bool weights = false;
      std::set<node_id> products = products_below(n, weights);
      if (p_[n].kind == op::put) continue;  // in the walk of these sums
      if (streams(n, products, weights))
        candidates[n] = std::move(products);
      else if (!makes_weights(p_[n].kind) && p_[n].kind != op::logsumexp && !weights)
        stored.insert(products.begin(), products.end());
    }
    for (const auto &[n, products] : candidates)
      if (std::none_of(products.begin(), products.end(),
                       [&](node_id x) { return stored.count(x); }))
        streamed_.insert(n);
  }

  // The same sum, one over the keys alone and then one over the other axes.
  node_id product(node_id old) {
    node n = p_[old];
    for (node_id &operand : n.in) operand = r_.now(operand);
    const axis_id key =
        *std::find_if(n.over.rbegin(), n.over.rend(), [&](axis_id a) { return is_of_call(a); });
    const std::vector<axis_id> rest = without(n.over, {key});
    if (n.kind == op::dot && grows_with_pairs(p_, p_[old].in[0]) &&
        grows_with_pairs(p_, p_[old].in[1])) {
      n.in = {multiplied(n)};
      n.kind = op::sum;
    }
    if (rest.empty()) return r_.put(std::move(n));
    node sum = n;
    sum.kind = op::sum;
    sum.over = rest;
    n.over = {key};
    n.shape.insert(n.shape.end(), rest.begin(), rest.end());
    sum.in = {r_.put(std::move(n))};
    return r_.put(std::move(sum));
  }
  bool is_of_call(axis_id a) const { return static_size(p_, a) < 0 && !p_.axes[a].batch; }

  node_id multiplied(const node &dot) {
    node n;
    n.kind = op::mul;
    n.type = dot.type;
    n.in = dot.in;
    n.shape = with(r_.to()[dot.in[0]].shape, r_.to()[dot.in[1]].shape);
    return r_.put(std::move(n));
  }
  const program &p_;
  const std::vector<axis_id> walked_;
  std::set<node_id> streamed_;
  rebuild r_;
};

}  // namespace

program split_sums(const program &p) { return splitting(p).run(); }

}  // namespace qkv::codegen
