// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/states.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <qkv/core/partial_sum.hpp>
#include <stdexcept>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Throws std::logic_error for an operation that is not a sum over tokens.
core::joining joining_of(op kind) {
  switch (kind) {
    case op::softmax:
    case op::logsumexp:
      return core::joining::logsumexp;
    case op::max_over:
      return core::joining::most;
    case op::min_over:
      return core::joining::least;
    case op::dot:
    case op::sum:
    case op::put:
      return core::joining::sum;
    default:
      throw std::logic_error(fmt::format("{} over tokens of other machines", name_of(kind)));
  }
}

class adding {
 public:
  adding(const program &whole, const token_places &r, part &p,
         const std::function<node_id(node_id)> &block)
      : whole_(whole), r_(r), part_(p), f_(p.f), block_(block) {}

  void run(const std::set<node_id> &sums) {
    std::vector<node_id> all(sums.begin(), sums.end());
    for (node_id n : sums)
      if (weights_of(whole_, n) != no_node)
        if (const node_id lse = logsumexp_with(whole_, r_, n); !has(all, lse)) all.push_back(lse);
    for (node_id n : all) (void)before(n);
    for (node_id n : all) f_.result(merged(n), like_state(whole_, n), name_of_state(whole_, n));
  }

 private:
  node_id before(node_id n) {
    return part_.argument(like_state(whole_, n), "before_" + name_of_state(whole_, n));
  }

  node_id merged(node_id n) {
    const node &x = whole_[n];
    if (x.kind == op::softmax || x.kind == op::logsumexp) return scales_with(n).logsumexp;
    const node_id a = before(n), b = block_(n), w = weights_of(whole_, n);
    if (x.kind == op::max_over || x.kind == op::min_over) return extreme(x.kind, a, b);
    if (w == no_node) return f_.add(a, b);
    const scales &s = scales_with(logsumexp_with(whole_, r_, n));
    const node_id zero = f_.number(0, x.type);
    return f_.where(f_.binary(op::equal, s.sum, zero), zero,
                    f_.div(f_.add(f_.mul(a, s.before), f_.mul(b, s.block)), s.sum));
  }

  // NaN if one is.
  node_id extreme(op kind, node_id a, node_id b) {
    const node_id best = f_.binary(kind == op::max_over ? op::max : op::min, a, b);
    return f_.where(f_.binary(op::equal, a, a), f_.where(f_.binary(op::equal, b, b), best, b), a);
  }

  // Factors of what was summed up before and of this block, relative to the larger logsumexp.
  struct scales {
    node_id before, block, sum, logsumexp;
  };
  scales sum_of(node_id a, node_id b) {
    const dtype t = f_.type(a);
    const node_id most = extreme(op::max_over, a, b),
                  is_infinite =
                      f_.binary(op::equal, f_.unary(op::abs, most), f_.number(infinity, t)),
                  base = f_.where(f_.binary(op::equal, most, f_.number(-infinity, t)),
                                  f_.number(0, t), most);
    scales s{};
    s.before = f_.unary(op::exp, f_.sub(a, base));
    s.block = f_.unary(op::exp, f_.sub(b, base));
    s.sum = f_.add(s.before, s.block);
    s.logsumexp = f_.where(is_infinite, most, f_.add(base, f_.unary(op::log, s.sum)));
    return s;
  }
  // Of a softmax, its logsumexp.
  const scales &scales_with(node_id logsumexp) {
    const auto [at, is_new] = by_logsumexp_.try_emplace(logsumexp);
    if (is_new) at->second = sum_of(before(logsumexp), block_(logsumexp));
    return at->second;
  }

  const program &whole_;
  const token_places &r_;
  part &part_;
  formulas &f_;
  const std::function<node_id(node_id)> &block_;
  std::map<node_id, scales> by_logsumexp_;
};

}  // namespace

node_id logsumexp_with(const program &whole, const token_places &r, node_id product) {
  const node_id softmax = weights_of(whole, product);
  const node &x = whole[softmax];
  for (node_id n = 0; n < static_cast<node_id>(whole.nodes.size()); ++n) {
    const node &other = whole[n];
    if (other.kind == op::logsumexp && other.in == x.in && other.over == x.over &&
        other.type == x.type && r.round[n] == r.round[product])
      return n;
  }
  return softmax;
}

std::string name_of_state(const program &whole, node_id n) {
  return fmt::format("{}{}", core::prefix_of(joining_of(whole[n].kind)), n);
}

node_id weights_of(const program &whole, node_id product) {
  if (whole[product].kind != op::dot) return no_node;
  const std::vector<axis_id> &over = whole[product].over;
  node_id found = no_node;
  std::set<node_id> seen;
  const auto is_opened = [&](node_id n) {
    const op k = whole[n].kind;
    if (k == op::softmax && whole[n].over == over) found = n;
    return n == product || scales(k, 0);
  };
  walk(whole, product, is_opened, seen);
  return found;
}

void add_states(const program &whole, const token_places &r, part &p, const std::set<node_id> &sums,
                const std::function<node_id(node_id)> &block) {
  adding(whole, r, p, block).run(sums);
}

node like_state(const program &whole, node_id n) {
  node x = whole[n];
  if (x.kind == op::softmax) x.shape = without(x.shape, x.over);
  return x;
}

}  // namespace qkv::codegen
