// SPDX-License-Identifier: BSL-1.0
#pragma once
// Steps that were meant for scores, but were given the weights that softmax made of them. plain(..)
// of the weights is the way to insist.
#include <qkv/core/label.hpp>
#include <qkv/core/message.hpp>

namespace qkv::detail {

// sigmoid(softmax<kv>(scores)).
constexpr bool bends_weights(message &m, op kind, const info &x) {
  constexpr op bending[] = {op::exp,  op::tanh, op::sigmoid, op::gelu,
                            op::silu, op::elu,  op::softplus};
  if (x.m.weights.empty()) return false;
  if (!is_call(x.label, "softmax(") && !is_call(x.label, "normalize(")) return false;
  for (const op k : bending)
    if (k == kind) {
      m.say(name_of(kind), ": ", x.label, " already holds weights over ", x.m.weights)
          .say("did you mean ", name_of(kind), "(..) of the scores",
               kind == op::exp || kind == op::sigmoid ? " in place of softmax" : "",
               "? if it is meant, plain(..) of the weights")
          .show(x);
      return true;
    }
  return false;
}

// Weights of which a mask leaves some out no longer add up to 1, unless their scores were masked,
// too. A condition without relation to positions that varies like the weights may be dropout.
constexpr bool masks_weights(message &m, op kind, const info &w, const info &keep) {
  const axes cut = w.m.weights.common(keep.s).without(w.m.hidden.masked);
  if (cut.empty() || keep.m.hidden.dropped) return false;
  const bool relates = keep.m.sides.query || keep.m.sides.placed.query;
  const bool whole = keep.s.non_batch().same_set(w.s.non_batch());
  if (!relates && (whole || !keep.m.given)) return false;
  m.say(name_of(kind), ": ", keep.label, " leaves out some of the weights over ", cut,
        ", which no longer add up to 1")
      .say("mask the scores before softmax; if it is meant, plain(..) of the weights")
      .show(w, keep);
  return true;
}

}  // namespace qkv::detail
