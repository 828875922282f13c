// SPDX-License-Identifier: BSL-1.0
//   dot<kv>(dot<d>(Q, K), V)  ->  dot<d>(Q, dot<kv>(K, V))    where that takes fewer operations
// A chain of contractions is a sum of products of its factors, whichever pair is
// contracted first. Static sizes decide here. Where sizes of the call may turn the tables, both
// orders stay, and the kernel compares their costs:
//   where(cost(a) <= cost(b), a, b)          only the one that is taken is computed
// Batch axes always count as a usual number, so that a result does not depend on the number of
// other batch entries.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/rewrites/contraction_chain.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

constexpr double sizes_tried[] = {1, 32, 1024, 32768};
constexpr double worth_both = 1.5;  // how much less the other order must take at some sizes
constexpr std::size_t most_factors = 6, most_sizes = 3;

// A way to compute a chain: as the spec is written when there are no trees.
struct way {
  std::vector<tree> trees;
  std::vector<shape> contractions;
};

// The cheapest way at usual sizes; and one that takes less at others, if any does.
struct choice {
  way usual;
  std::optional<way> other;
};

class chooser {
 public:
  chooser(const program &p, const chain &c, node_id n) : chain_(c), written_{{}, {}} {
    c.walked(n, written_.contractions);
    shape over;
    c.collect(n, factors_, over);
    if (factors_.size() < 3 || factors_.size() > most_factors) return;
    if (std::any_of(factors_.begin(), factors_.end(),
                    [&](node_id f) { return c.needs_positions(f, over); }))
      return;
    find_sizes(p);
    const auto best_at = [&](const call_sizes &sizes) {
      const std::vector<tree> trees = cheapest_order(p, c, factors_, over, sizes);
      const way w{trees, walked(trees)};
      return !trees.empty() && cost(w, sizes) < cost(written_, sizes) ? w : written_;
    };
    choice_ = choice{best_at({}), {}};
    double most = 0;
    for (const call_sizes &sizes : sizes_) {
      const way w = best_at(sizes);
      const double usual = cost(choice_->usual, sizes), less = cost(w, sizes);
      // savings count, and a saving of nearly nothing does not
      if (usual >= worth_both * less && usual - less > most) {
        most = usual - less;
        choice_->other = w;
      }
    }
  }

  const std::optional<choice> &chosen() const { return choice_; }

 private:
  double cost(const way &w, const call_sizes &sizes) const {
    return chain_.cost(w.contractions, sizes);
  }

  // Every combination of the sizes to try, for the first few axes that the call decides.
  void find_sizes(const program &p) {
    shape axes;
    for (node_id f : factors_)
      for (axis_id a : p[f].shape)
        if (const axis_id root = p.axes[a].root;
            chain_.is_compared(a) && !has(axes, root) && axes.size() < most_sizes)
          axes.push_back(root);
    sizes_ = {{}};
    for (axis_id a : axes) {
      std::vector<call_sizes> more;
      for (const call_sizes &s : sizes_)
        for (double n : sizes_tried) {
          more.push_back(s);
          more.back()[a] = n;
        }
      sizes_ = std::move(more);
    }
  }

  const chain &chain_;
  way written_;
  std::vector<node_id> factors_;
  std::vector<call_sizes> sizes_;
  std::optional<choice> choice_;
};

// By the node that a chain ends in.
std::map<node_id, choice> choices_of(const program &p, const chain &c) {
  // contractions that another one opens are made with it
  std::set<node_id> inner;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    if (p[n].kind == op::dot)
      for (const std::size_t side : {0, 1})
        if (c.opens(p[n].in[side], p[n].in[1 - side])) inner.insert(p[n].in[side]);
  std::map<node_id, choice> choices;
  const std::vector<axis_id> walked = walked_axes(p);
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    if (p[n].kind != op::dot || inner.count(n)) continue;
    std::optional<choice> chosen = chooser(p, c, n).chosen();
    if (!chosen) continue;
    if (walked[n] >= 0) chosen->other.reset();  // a scan computes all of its steps
    choices.emplace(n, std::move(*chosen));
  }
  return choices;
}

class writer {
 public:
  writer(const program &p, const chain &c, rebuild &r) : p_(p), chain_(c), r_(r) {}

  // The chain that ends in this node, which is as it was written but for its operands.
  node_id put(const choice &chosen, const node &written) {
    const node_id usual = put(chosen.usual, written);
    if (!chosen.other) return usual;
    const node_id other = put(*chosen.other, written);
    node less;
    less.kind = op::less;
    less.type = b8;
    less.in = {cost(*chosen.other), cost(chosen.usual)};
    node n;
    n.kind = op::where;
    n.type = written.type;
    n.in = {r_.put(std::move(less)), other, usual};
    n.shape = written.shape;
    return r_.put(std::move(n));
  }

 private:
  node_id put(const way &w, const node &written) {
    if (w.trees.empty()) return r_.put(written);
    std::vector<node_id> made;
    for (const tree &t : w.trees) {
      if (t.factor >= 0) {
        made.push_back(r_.now(t.factor));
        continue;
      }
      node d;
      d.kind = op::dot;
      d.type = written.type;
      d.in = {made[static_cast<std::size_t>(t.a)], made[static_cast<std::size_t>(t.b)]};
      d.shape = t.axes;
      d.over = t.over;
      made.push_back(r_.put(std::move(d)));
    }
    r_.edit(made.back()).shape = written.shape;
    return made.back();
  }

  // The same as chain::cost, of the sizes of the call, in f32.
  node_id cost(const way &w) {
    node_id sum = -1;
    for (const shape &axes : w.contractions) {
      shape fixed, compared;
      for (axis_id a : axes) (chain_.is_compared(a) ? compared : fixed).push_back(a);
      node_id product = r_.number(chain_.cost(fixed, {}), f32);
      for (axis_id a : compared) product = pointwise(op::mul, product, size(a));
      sum = sum < 0 ? product : pointwise(op::add, sum, product);
    }
    return sum;
  }

  node_id size(axis_id a) {
    node n;
    n.kind = op::size;
    n.type = i32;
    n.over = {p_.axes[a].root};
    node cast;
    cast.kind = op::cast;
    cast.in = {r_.put(std::move(n))};
    return r_.put(std::move(cast));
  }

  node_id pointwise(op kind, node_id a, node_id b) {
    node n;
    n.kind = kind;
    n.in = {a, b};
    return r_.put(std::move(n));
  }

  const program &p_;
  const chain &chain_;
  rebuild &r_;
};

}  // namespace

std::vector<contraction_order> orders_of(const program &p) {
  const chain c(p);
  std::vector<contraction_order> all;
  for (const auto &[n, chosen] : choices_of(p, c)) {
    contraction_order o{n, {}, chosen.usual.contractions, {}};
    c.walked(n, o.written);
    if (chosen.other) o.other = chosen.other->contractions;
    all.push_back(std::move(o));
  }
  return all;
}

program order_contractions(const program &p) {
  const chain c(p);
  const std::map<node_id, choice> choices = choices_of(p, c);
  rebuild r(p);
  writer w(p, c, r);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const auto chosen = choices.find(at++);
    return chosen == choices.end() ? r.put(std::move(n)) : w.put(chosen->second, n);
  });
}

}  // namespace qkv::codegen
