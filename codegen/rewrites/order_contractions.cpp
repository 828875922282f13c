// Before: dot<kv>(dot<d>(Q, K), V)     After: dot<d>(Q, dot<kv>(K, V)), where that takes fewer operations.
// A chain of contractions is a sum of products of its factors, whichever pair is contracted first. Sizes that the call
// decides count as `usual_size`: for sequences much shorter than that the written order may be the better one.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

constexpr double usual_size = 1024, usual_batch = 8;
constexpr std::size_t most_factors = 6;

using shape = std::vector<axis_id>;

bool has(const shape &axes, axis_id a) {
  return std::find(axes.begin(), axes.end(), a) != axes.end();
}

// A product to be: a factor as it is (id >= 0), or two products contracted.
struct tree {
  node_id factor = -1;
  int a = -1, b = -1;  // positions among the trees
  shape axes;
  shape over;  // of the contraction
};

class chain {
 public:
  explicit chain(const program &p) : p_(p), uses_(p.nodes.size(), 0) {
    for (const node &n : p.nodes)
      for (node_id operand : n.in) ++uses_[operand];
  }

  // The factors below this contraction, and what all contractions on the way sum over.
  void collect(node_id n, std::vector<node_id> &factors, shape &over) const {
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

  // The inner contraction serves only this one, and nothing that it or those below it sum over means anything to the other
  // operand.
  bool opens(node_id inner, node_id other) const {
    const node &x = p_[inner];
    if (x.kind != op::dot || !is_floating(x.type) || !x.name.empty() || uses_[inner] != 1)
      return false;
    shape over;
    summed(inner, over);
    return std::none_of(over.begin(), over.end(), [&](axis_id a) { return reaches(other, a); });
  }

  void summed(node_id n, shape &over) const {
    const node &x = p_[n];
    over.insert(over.end(), x.over.begin(), x.over.end());
    for (const std::size_t side : {0, 1})
      if (opens(x.in[side], x.in[1 - side])) summed(x.in[side], over);
  }

  // The axes that each contraction below this one walks, as the spec is written.
  void walked(node_id n, std::vector<shape> &all) const {
    const node &x = p_[n];
    for (const std::size_t side : {0, 1})
      if (opens(x.in[side], x.in[1 - side])) walked(x.in[side], all);
    shape axes = x.shape;
    axes.insert(axes.end(), x.over.begin(), x.over.end());
    all.push_back(std::move(axes));
  }

  double cost(const std::vector<shape> &contractions) const {
    double c = 0;
    for (const shape &s : contractions) c += cost(s);
    return c;
  }

  double cost(const shape &axes) const {
    double c = 2;
    for (axis_id a : axes) {
      const axis &x = p_.axes[a];
      c *= x.size >= 0 ? static_cast<double>(x.size) : x.batch ? usual_batch : usual_size;
    }
    return c;
  }

 private:
  // Whether the axis stands in this operand or in anything that would be opened below it.
  bool reaches(node_id n, axis_id a) const {
    const node &x = p_[n];
    if (has(x.shape, a) || has(x.over, a)) return true;
    return x.kind == op::dot &&
           std::any_of(x.in.begin(), x.in.end(), [&](node_id o) { return reaches(o, a); });
  }

  const program &p_;
  std::vector<int> uses_;
};

// The cheapest order, by trying all: few factors.
class search {
 public:
  search(const program &p, const chain &c, const std::vector<node_id> &factors, shape over)
      : chain_(c), over_(std::move(over)) {
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
        shape all = t.axes;
        all.insert(all.end(), t.over.begin(), t.over.end());
        open_.clear();
        for (std::size_t k = 0; k < open.size(); ++k)
          if (k != i && k != j) open_.push_back(open[k]);
        open_.push_back(static_cast<int>(trees_.size()));
        trees_.push_back(std::move(t));
        descend(so_far + chain_.cost(all));
        trees_.pop_back();
      }
    open_ = open;
  }

  tree contracted(const std::vector<int> &open, std::size_t i, std::size_t j) const {
    tree t;
    t.a = open[i], t.b = open[j];
    shape all = trees_[t.a].axes;
    for (axis_id a : trees_[t.b].axes)
      if (!has(all, a)) all.push_back(a);
    for (axis_id a : all) {
      bool elsewhere = !has(over_, a);
      for (std::size_t k = 0; k < open.size(); ++k)
        if (k != i && k != j) elsewhere = elsewhere || has(trees_[open[k]].axes, a);
      (elsewhere ? t.axes : t.over).push_back(a);
    }
    return t;
  }

  const chain &chain_;
  shape over_;
  std::vector<tree> trees_;
  std::vector<int> open_;
  double best_ = std::numeric_limits<double>::infinity();
  std::vector<tree> best_trees_;
};

}  // namespace

namespace {

// What the cheapest order of each chain is made of, by the node that a chain ends in.
std::map<node_id, std::vector<tree>> cheapest(const program &p, const chain &c) {
  // contractions that another one opens are made with it
  std::set<node_id> inner;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    if (p[n].kind == op::dot)
      for (const std::size_t side : {0, 1})
        if (c.opens(p[n].in[side], p[n].in[1 - side])) inner.insert(p[n].in[side]);
  std::map<node_id, std::vector<tree>> orders;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    if (p[n].kind != op::dot || inner.count(n)) continue;
    std::vector<node_id> factors;
    shape over;
    c.collect(n, factors, over);
    if (factors.size() >= 3 && factors.size() <= most_factors)
      orders[n] = search(p, c, factors, over).trees();
  }
  return orders;
}

std::vector<shape> walked(const std::vector<tree> &trees) {
  std::vector<shape> all;
  for (const tree &t : trees) {
    if (t.factor >= 0) continue;
    all.push_back(t.axes);
    all.back().insert(all.back().end(), t.over.begin(), t.over.end());
  }
  return all;
}

}  // namespace

std::vector<contraction_order> orders_of(const program &p) {
  const chain c(p);
  std::vector<contraction_order> all;
  for (const auto &[n, trees] : cheapest(p, c)) {
    contraction_order o{n, {}, walked(trees)};
    c.walked(n, o.written);
    if (c.cost(o.chosen) >= c.cost(o.written)) o.chosen = o.written;
    all.push_back(std::move(o));
  }
  return all;
}

program order_contractions(const program &p) {
  const chain c(p);
  const std::map<node_id, std::vector<tree>> orders = cheapest(p, c);
  rebuild r(p);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const node_id here = at++;
    const auto order = orders.find(here);
    if (order == orders.end()) return r.put(std::move(n));
    std::vector<shape> written;
    c.walked(here, written);
    if (c.cost(walked(order->second)) >= c.cost(written)) return r.put(std::move(n));
    std::vector<node_id> made;
    for (const tree &t : order->second) {
      if (t.factor >= 0) {
        made.push_back(r.now(t.factor));
        continue;
      }
      node d;
      d.kind = op::dot;
      d.type = n.type;
      d.in = {made[static_cast<std::size_t>(t.a)], made[static_cast<std::size_t>(t.b)]};
      d.shape = t.axes;
      d.over = t.over;
      made.push_back(r.put(std::move(d)));
    }
    r.edit(made.back()).shape = n.shape;
    return made.back();
  });
}

}  // namespace qkv::codegen
