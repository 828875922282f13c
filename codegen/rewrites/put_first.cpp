// SPDX-License-Identifier: BSL-1.0
// Before: put<distances>(sum<batch>(f(s)), i)     After: sum<batch>(put<distances>(f(s), i))
//         put<distances>(f(s), i[batch, seq, kv])        the same, of one put for each batch entry
//         put<distances>(mask(sum<batch>(f(s)), keep), i)  the same, of mask(f(s), keep)
// where s = dot<d>(Q, K): pairs are put where they are computed, and what is summed over the batch
// has one number for each position in place of one for each pair.
#include <algorithm>

#include "codegen/program/formulas.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

class moving {
 public:
  explicit moving(const program &p) : p_(p), users_(users_of(p)), r_(p) {}

  program run() {
    node_id at = 0;
    return r_.run([&](node n) {
      const node &old = p_[at++];
      return old.kind == op::put && is_floating(old.type) ? moved(old, std::move(n))
                                                          : r_.put(std::move(n));
    });
  }

 private:
  node_id moved(const node &put, node n) {
    node_id pairs = put.in[0], hidden = no_mask;
    std::vector<axis_id> after;
    if (is_moved(put)) {
      if (p_[pairs].kind == op::mask) hidden = pairs, pairs = p_[pairs].in[0];
      after = p_[pairs].over;
      pairs = p_[pairs].in[0];
    }
    if (!grows_with_pairs(p_, pairs)) return r_.put(std::move(n));
    for (axis_id a : without(with(p_[pairs].shape, p_[put.in[1]].shape), put.shape))
      if (p_.axes[a].batch && !has(after, a)) after.push_back(a);
    if (after.empty()) return r_.put(std::move(n));
    n.in[0] = hidden == no_mask ? r_.now(pairs) : masked(pairs, hidden);
    node sum;
    sum.kind = op::sum;
    sum.type = n.type;
    sum.over = after;
    sum.shape = n.shape;
    n.shape.insert(n.shape.begin(), after.begin(), after.end());
    sum.in = {r_.put(std::move(n))};
    return r_.put(std::move(sum));
  }

  // The terms behind the mask of their sum.
  node_id masked(node_id terms, node_id mask) {
    node n = p_[mask];
    n.in = {r_.now(terms), r_.now(n.in[1])};
    n.shape = p_[terms].shape;
    return r_.put(std::move(n));
  }

  // True if nothing but puts need the sum, perhaps behind a mask; its terms all have the same
  // position, and are hidden together.
  bool is_moved(const node &put) const {
    const bool is_masked = p_[put.in[0]].kind == op::mask;
    const node_id total = is_masked ? p_[put.in[0]].in[0] : put.in[0];
    const node &sum = p_[total];
    if (is_masked &&
        (users_[total].size() != 1 || !common(p_[p_[put.in[0]].in[1]].shape, sum.over).empty()))
      return false;
    const auto puts = [&](node_id user) {
      const node &x = p_[user];
      return x.kind == op::put && x.in[0] == put.in[0] && x.type == sum.type &&
             common(with(p_[x.in[1]].shape, x.shape), sum.over).empty();
    };
    const std::vector<node_id> &users = users_[put.in[0]];
    return sum.kind == op::sum && grows_with_pairs(p_, sum.in[0]) &&
           std::all_of(users.begin(), users.end(), puts);
  }

  static constexpr node_id no_mask = -1;

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  rebuild r_;
};

}  // namespace

program put_first(const program &p) { return moving(p).run(); }

}  // namespace qkv::codegen
