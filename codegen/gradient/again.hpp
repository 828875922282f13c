// SPDX-License-Identifier: BSL-1.0
#pragma once
// Forward values as the backward reads them. Weights and all else that exists for each query and
// key are recomputed from what the forward stores, so that nothing of that size is stored:
//
//   softmax<kv>(s) -> exp(s - logsumexp<kv>(s))        normalize<kv>(s) -> s / sum<kv>(s)
#include <map>
#include <vector>

#include "codegen/program/presence.hpp"

namespace qkv::codegen::adjoint {

using axes = std::vector<axis_id>;

class again {
 public:
  again(formulas &f, presence &here, node_id forward_steps)
      : f_(f), here_(here), forward_steps_(forward_steps) {}

  // The value of a forward step.
  node_id value(node_id);
  // The same as a factor of a product: absent, not 0, where a weight is empty. What it is
  // multiplied with may be NaN there.
  node_id factor(node_id);
  // Weights that are absent where their scores are.
  node_id weights(node_id);
  // The logsumexp or the sum that weights are divided by; the second is 0 in a row without any.
  node_id logsumexp(node_id weights);
  node_id total(node_id weights);
  node_id weight(node_id log_weight);
  // exp(scores - lse), 0 in a row where lse is -inf.
  node_id exp_less(node_id scores, node_id lse);

 private:
  node_id found(node_id);
  node_id copy(node_id, node_id (again::*of_operand)(node_id));
  bool is_forward(node_id n) const { return n < forward_steps_; }

  formulas &f_;
  presence &here_;
  node_id forward_steps_;
  std::map<node_id, node_id> values_, factors_;
};

}  // namespace qkv::codegen::adjoint
