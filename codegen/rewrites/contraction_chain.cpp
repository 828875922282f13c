// SPDX-License-Identifier: BSL-1.0
#include "codegen/rewrites/contraction_chain.hpp"

#include <algorithm>
#include <limits>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

constexpr double usual_size = 1024, usual_batch = 8;

}  // namespace

std::vector<shape> walked(const std::vector<tree> &trees) {
  std::vector<shape> all;
  for (const tree &t : trees) {
    if (t.factor >= 0) continue;
    all.push_back(t.axes);
    all.back().insert(all.back().end(), t.over.begin(), t.over.end());
  }
  return all;
}

chain::chain(const program &p) : p_(p), uses_(p.nodes.size(), 0), masked_(masked_steps(p)) {
  for (const node &n : p.nodes)
    for (node_id operand : n.in) ++uses_[operand];
}

void chain::collect(node_id n, std::vector<node_id> &factors, shape &over) const {
  const node &x = p_[n];
  over.insert(over.end(), x.over.begin(), x.over.end());
  for (const std::size_t side : {0, 1}) {
    const node_id operand = x.in[side];
    if (opens(operand, x.in[1 - side]))
      collect(operand, factors, over);
    else
      factors.push_back(operand);
  }
}

bool chain::opens(node_id inner, node_id other) const {
  const node &x = p_[inner];
  if (x.kind != op::dot || !is_floating(x.type) || uses_[inner] != 1) return false;
  if (masked_[other] || masked_[x.in[0]] || masked_[x.in[1]]) return false;
  shape over;
  summed(inner, over);
  return std::none_of(over.begin(), over.end(), [&](axis_id a) { return reaches(other, a); });
}

void chain::summed(node_id n, shape &over) const {
  const node &x = p_[n];
  over.insert(over.end(), x.over.begin(), x.over.end());
  for (const std::size_t side : {0, 1})
    if (opens(x.in[side], x.in[1 - side])) summed(x.in[side], over);
}

bool chain::needs_positions(node_id factor, const shape &over) const {
  const auto may_be_empty = [&](axis_id a) {
    const axis_id root = p_.axes[a].root;
    return p_.axes[root].size < 0 &&
           std::any_of(
               over.begin(), over.end(), [&](axis_id b) { return p_.axes[b].root == root; });
  };
  // Operands come before their users: per step, whether it folds such an axis, and whether it may
  // then not be finite.
  std::vector<bool> folds, infinite;
  for (node_id n = 0; n <= factor; ++n) {
    const node &x = p_[n];
    const auto any = [&](const std::vector<bool> &of) {
      return std::any_of(x.in.begin(), x.in.end(), [&](node_id operand) { return of[operand]; });
    };
    const bool own = (is_reduction(x.kind) || x.kind == op::dot) &&
                     std::any_of(x.over.begin(), x.over.end(), may_be_empty);
    folds.push_back(own || any(folds));
    const bool extreme = own && is_reduction(x.kind) && x.kind != op::sum;
    infinite.push_back(any(infinite) || extreme ||
                       (folds.back() && !core::facts_of(x.kind).finite));
  }
  return infinite[factor];
}

void chain::walked(node_id n, std::vector<shape> &all) const {
  const node &x = p_[n];
  for (const std::size_t side : {0, 1})
    if (opens(x.in[side], x.in[1 - side])) walked(x.in[side], all);
  shape axes = x.shape;
  axes.insert(axes.end(), x.over.begin(), x.over.end());
  all.push_back(std::move(axes));
}

double chain::cost(const std::vector<shape> &contractions, const call_sizes &sizes) const {
  double c = 0;
  for (const shape &s : contractions) c += cost(s, sizes);
  return c;
}

double chain::cost(const shape &axes, const call_sizes &sizes) const {
  double c = 2;
  for (axis_id a : axes) c *= size(a, sizes);
  return c;
}

bool chain::is_compared(axis_id a) const {
  const axis &x = p_.axes[p_.axes[a].root];
  return x.size < 0 && !x.batch && !p_.axes[a].batch;
}

double chain::size(axis_id a, const call_sizes &sizes) const {
  if (static_size(p_, a) >= 0) return static_cast<double>(static_size(p_, a));
  if (!is_compared(a)) return usual_batch;
  const auto given = sizes.find(p_.axes[a].root);
  return given == sizes.end() ? usual_size : given->second;
}

// True if this operand, or anything that would be opened below it, has the axis.
bool chain::reaches(node_id n, axis_id a) const {
  const node &x = p_[n];
  if (has(x.shape, a) || has(x.over, a)) return true;
  return x.kind == op::dot &&
         std::any_of(x.in.begin(), x.in.end(), [&](node_id o) { return reaches(o, a); });
}

namespace {

class search {
 public:
  search(const program &p, const chain &c, const std::vector<node_id> &factors, shape over,
         const call_sizes &sizes)
      : p_(p), chain_(c), over_(std::move(over)), sizes_(sizes) {
    for (node_id f : factors) {
      open_.push_back(static_cast<int>(trees_.size()));
      trees_.push_back({f, -1, -1, p[f].shape, {}});
    }
    descend(0);
  }

  const std::vector<tree> &trees() const { return best_trees_; }  // operands first, the root last

 private:
  void descend(double so_far) {
    if (so_far >= best_) return;
    if (open_.size() == 1) {
      best_ = so_far;
      best_trees_ = trees_;
      return;
    }
    const std::vector<int> open = open_;
    for (std::size_t i = 0; i < open.size(); ++i)
      for (std::size_t j = i + 1; j < open.size(); ++j) {
        tree t = contracted(open, i, j);
        if (!sums_weights(t.a, t.over) || !sums_weights(t.b, t.over)) continue;
        shape all = t.axes;
        all.insert(all.end(), t.over.begin(), t.over.end());
        open_.clear();
        for (std::size_t k = 0; k < open.size(); ++k)
          if (k != i && k != j) open_.push_back(open[k]);
        open_.push_back(static_cast<int>(trees_.size()));
        trees_.push_back(std::move(t));
        descend(so_far + chain_.cost(all, sizes_));
        trees_.pop_back();
      }
    open_ = open;
  }

  // Weights are streamed where they are contracted over their own axes; over others they would have
  // to be stored.
  bool sums_weights(int position, const shape &over) const {
    const node_id n = trees_[static_cast<std::size_t>(position)].factor;
    if (n < 0) return true;
    const auto own = [&](node_id w) {
      return !makes_weights(p_[w].kind) || same_set(p_[w].over, over);
    };
    return own(n) && (p_[n].kind != op::mul || (own(p_[n].in[0]) && own(p_[n].in[1])));
  }

  tree contracted(const std::vector<int> &open, std::size_t i, std::size_t j) const {
    tree t;
    t.a = open[i], t.b = open[j];
    for (axis_id a : with(trees_[t.a].axes, trees_[t.b].axes)) {
      bool elsewhere = !has(over_, a);
      for (std::size_t k = 0; k < open.size(); ++k)
        if (k != i && k != j) elsewhere = elsewhere || has(trees_[open[k]].axes, a);
      (elsewhere ? t.axes : t.over).push_back(a);
    }
    return t;
  }

  const program &p_;
  const chain &chain_;
  shape over_;
  const call_sizes &sizes_;
  std::vector<tree> trees_;
  std::vector<int> open_;
  double best_ = std::numeric_limits<double>::infinity();
  std::vector<tree> best_trees_;
};

}  // namespace

std::vector<tree> cheapest_order(const program &p, const chain &c,
                                 const std::vector<node_id> &factors, const shape &over,
                                 const call_sizes &sizes) {
  return search(p, c, factors, over, sizes).trees();
}

}  // namespace qkv::codegen
