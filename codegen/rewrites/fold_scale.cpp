// SPDX-License-Identifier: BSL-1.0
// Before: dot<d_k>(Q, K) * 0.125
// After:  dot<d_k>(Q * 0.125, K), or on K if its size is fixed and that of Q is not.
// Of two orders of the same contractions, both are scaled. A param never is: params are packed once
// and read as they are. A scale that is not a power of two adds a rounding error to every element.
// It is folded only before an exponential, which makes a relative error of that.
#include <algorithm>
#include <cmath>

#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// True for weights, as opposed to activations. Keys are not fixed, even where a group of queries
// outnumbers them: attention copies a tile of queries, but would scale each key for each tile.
bool is_fixed(const program &p, const node &n) {
  return std::all_of(n.shape.begin(), n.shape.end(),
                     [&](axis_id a) { return p.axes[a].size >= 0; });
}

// Scaled, they would no longer be weights.
bool is_weights(const program &p, node_id n) {
  const node &x = p[n];
  return makes_weights(x.kind) ||
         (x.kind == op::mul && (is_weights(p, x.in[0]) || is_weights(p, x.in[1])));
}

bool is_power_of_two(double scale) {
  int exponent = 0;
  return std::fabs(std::frexp(scale, &exponent)) == 0.5;
}

// For each step, whether an exponential is computed from it, by however many steps.
std::vector<bool> before_exponentials(const program &p) {
  std::vector<bool> before(p.nodes.size(), false);
  for (std::size_t n = p.nodes.size(); n-- > 0;) {
    const node &x = p.nodes[n];
    const bool exponential = x.kind == op::softmax || x.kind == op::logsumexp || x.kind == op::exp;
    for (node_id operand : x.in) before[operand] = before[operand] || exponential || before[n];
  }
  return before;
}

// The multiplications to remove, and the factor that each contraction gets instead.
struct folding {
  std::vector<double> scale;
  std::vector<bool> absorbed;

  explicit folding(const program &p)
      : scale(p.nodes.size(), 1), absorbed(p.nodes.size(), false), p_(p), users_(users_of(p)) {
    const std::vector<bool> exponential_follows = before_exponentials(p);
    for (std::size_t k = 0; k < p.nodes.size(); ++k) {
      const node &n = p.nodes[k];
      if (n.kind != op::mul || !is_floating(n.type) || p[n.in[1]].kind != op::number) continue;
      if (!is_power_of_two(p[n.in[1]].value) && !exponential_follows[k]) continue;
      std::vector<node_id> dots;
      if (!contractions(n.in[0], dots)) continue;
      const auto scaled = [&](node_id d) { return scale[d] * p[n.in[1]].value; };
      if (!std::all_of(dots.begin(), dots.end(),
                       [&](node_id d) { return std::isnormal(static_cast<float>(scaled(d))); }))
        continue;
      for (node_id d : dots) scale[d] = scaled(d);
      absorbed[k] = true;
    }
  }

 private:
  // The contractions that make this step, if nothing else uses the steps between.
  bool contractions(node_id n, std::vector<node_id> &dots) const {
    const node &x = p_[n];
    if (users_[n].size() != 1) return false;
    if (absorbed[n]) return contractions(x.in[0], dots);
    if (is_alternative(p_, x)) return contractions(x.in[1], dots) && contractions(x.in[2], dots);
    dots.push_back(n);
    return x.kind == op::dot && !is_weights(p_, x.in[0]) && !is_weights(p_, x.in[1]);
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
};

}  // namespace

program fold_scale(const program &p) {
  const folding f(p);
  rebuild r(p);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const node_id here = at++;
    if (f.absorbed[here]) return n.in[0];
    if (n.kind == op::dot && f.scale[here] != 1) {
      const node &left = r.to()[n.in[0]], &right = r.to()[n.in[1]];
      const bool smaller =
          is_fixed(r.to(), right) && !is_fixed(r.to(), left) && right.kind != op::param;
      const int side = left.kind == op::param || smaller ? 1 : 0;
      node scaled;
      scaled.kind = op::mul;
      scaled.type = n.type;
      scaled.shape = r.to()[n.in[side]].shape;
      scaled.in = {n.in[side], r.number(f.scale[here], n.type)};
      n.in[side] = r.put(std::move(scaled));
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
