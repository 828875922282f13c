// Before: dot<kv>(w1 - lambda * w2, V)     After: dot<kv>(w1, V) - lambda * dot<kv>(w2, V)
//         dot<kv>(w * gate, V)                    dot<kv>(w, V) * gate        when gate does not vary along kv
// A product with weights alone is streamed; a product with what was made of them would have to store n * m numbers.
#include <algorithm>
#include <optional>

#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// Weights, and what they are multiplied with or divided by.
struct term {
  struct factor {
    op kind;  // mul or div
    node_id by;
  };
  node_id weights;
  std::vector<factor> factors;
  bool negative = false;
};

class terms_of {
 public:
  terms_of(const program &p, const std::vector<axis_id> &over) : p_(p), over_(over) {}

  // Empty when the step is not a sum of weights over these axes, each times what does not vary along them.
  std::vector<term> operator()(node_id n) const {
    const node &x = p_[n];
    if ((x.kind == op::softmax || x.kind == op::normalize) && x.over == over_) return {{n, {}}};
    if (!is_floating(x.type)) return {};
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
        if (side == 1 && x.kind == op::div) continue;
        if (std::any_of(over_.begin(), over_.end(),
                        [&](axis_id a) { return has(p_[x.in[1 - side]].shape, a); }))
          continue;
        std::vector<term> a = (*this)(x.in[side]);
        for (term &t : a) t.factors.push_back({x.kind, x.in[1 - side]});
        if (!a.empty()) return a;
      }
    }
    return {};
  }

 private:
  const program &p_;
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
  rebuild r(p);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const node &old = p[at++];
    if (old.kind != op::dot) return r.put(std::move(n));
    for (const std::size_t side : {0, 1}) {
      const std::vector<term> terms = terms_of(p, old.over)(old.in[side]);
      if (terms.empty() || (terms.size() == 1 && terms[0].factors.empty())) continue;
      const std::vector<axis_id> order = n.shape, other = r.to()[n.in[1 - side]].shape;
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
        d.shape = shape_among(order, r.to()[d.in[side]].shape, other);
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
