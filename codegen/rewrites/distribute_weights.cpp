// SPDX-License-Identifier: BSL-1.0
//   dot<kv>(w1 - lambda * w2, V)   ->  dot<kv>(w1, V) - lambda * dot<kv>(w2, V)
//   dot<kv>(w * gate, V)           ->  dot<kv>(w, V) * gate, where gate does not vary along kv
//   dot<kv>((w1 + w2) * gate, V)   ->  dot<kv>(w1 * gate, V) + dot<kv>(w2 * gate, V), else
// and the same for sum<kv>(..).
// A product with weights, or with weights times a gate, is streamed; a product with any other
// function of weights would have to store n * m numbers.
#include <algorithm>
#include <optional>

#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// Weights, and the steps that they are multiplied with or divided by.
struct term {
  struct factor {
    op kind;  // mul or div
    node_id by;
  };
  node_id weights;
  std::vector<factor> factors;
  std::vector<node_id> gates;  // factors that vary along the same axes
  bool negative = false;
};

class terms_of {
 public:
  terms_of(const program &p, const std::vector<bool> &masked, const std::vector<axis_id> &over)
      : p_(p), masked_(masked), over_(over) {}

  // Empty when the step is not a sum of weights over these axes, each times factors that do not
  // vary along them.
  std::vector<term> operator()(node_id n) const {
    const node &x = p_[n];
    if (makes_weights(x.kind) && x.over == over_) return {{n, {}, {}}};
    if (!is_floating(x.type) || masked_[n]) return {};  // absence would remove the whole sum
    if (x.kind == op::add || x.kind == op::sub) {
      std::vector<term> a = (*this)(x.in[0]), b = (*this)(x.in[1]);
      if (a.empty() || b.empty()) return {};
      for (term &t : b) t.negative ^= x.kind == op::sub;
      a.insert(a.end(), b.begin(), b.end());
      return a;
    }
    if (x.kind == op::neg) {
      std::vector<term> a = (*this)(x.in[0]);
      for (term &t : a) t.negative = !t.negative;
      return a;
    }
    if (x.kind == op::mul || x.kind == op::div) {
      for (const std::size_t side : {0, 1}) {
        const node_id by = x.in[1 - side];
        const bool varies = std::any_of(over_.begin(), over_.end(),
                                        [&](axis_id a) { return has(p_[by].shape, a); });
        if (x.kind == op::div && (side == 1 || varies)) continue;
        std::vector<term> a = (*this)(x.in[side]);
        for (term &t : a) {
          if (varies)
            t.gates.push_back(by);
          else
            t.factors.push_back({x.kind, by});
        }
        if (!a.empty()) return a;
      }
    }
    return {};
  }

 private:
  const program &p_;
  const std::vector<bool> &masked_;
  const std::vector<axis_id> &over_;
};

// The axes of `order` that one of these has.
std::vector<axis_id> shape_among(const std::vector<axis_id> &order, const std::vector<axis_id> &a,
                                 const std::vector<axis_id> &b) {
  std::vector<axis_id> shape;
  for (axis_id x : order)
    if (has(a, x) || has(b, x)) shape.push_back(x);
  return shape;
}

}  // namespace

program distribute_weights(const program &p) {
  const std::vector<bool> masked = masked_steps(p);
  rebuild r(p);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const node &old = p[at++];
    if (old.kind != op::dot && old.kind != op::sum) return r.put(std::move(n));
    for (std::size_t side = 0; side < old.in.size(); ++side) {
      const std::vector<term> terms = terms_of(p, masked, old.over)(old.in[side]);
      if (terms.empty() ||
          (terms.size() == 1 && terms[0].factors.empty() && terms[0].gates.size() <= 1))
        continue;
      const std::vector<axis_id> other =
          old.kind == op::dot ? r.to()[n.in[1 - side]].shape : std::vector<axis_id>{};
      std::vector<axis_id> order = n.shape;
      order.insert(order.end(), n.over.begin(), n.over.end());
      const auto pointwise = [&](op kind, node_id a, node_id b) {
        node x;
        x.kind = kind;
        x.type = n.type;
        x.in = {a, b};
        x.shape = shape_among(order, r.to()[a].shape, r.to()[b].shape);
        return r.put(std::move(x));
      };
      node_id sum = -1;
      for (const term &t : terms) {
        node d = n;
        d.in[side] = r.now(t.weights);
        if (!t.gates.empty()) {
          node_id gate = r.now(t.gates[0]);
          for (std::size_t k = 1; k < t.gates.size(); ++k)
            gate = pointwise(op::mul, gate, r.now(t.gates[k]));
          d.in[side] = pointwise(op::mul, d.in[side], gate);
        }
        d.shape = shape_among(n.shape, r.to()[d.in[side]].shape, other);
        node_id product = r.put(std::move(d));
        for (const term::factor &f : t.factors) product = pointwise(f.kind, product, r.now(f.by));
        if (sum < 0 && t.negative) {
          node x;
          x.kind = op::neg;
          x.type = n.type;
          x.in = {product};
          x.shape = r.to()[product].shape;
          sum = r.put(std::move(x));
        } else {
          sum = sum < 0 ? product : pointwise(t.negative ? op::sub : op::add, sum, product);
        }
      }
      return sum;
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
