#pragma once
// What softmax and normalize share: checks of the masks they will see, and the marks of weights.
#include <qkv/core/step.hpp>

namespace qkv::detail {

// A causal mask names its keys; weights must be over them. Either may be the slip: keys that are an alias of the queries
// were named to be keys, so then it is the softmax.
constexpr bool wrong_keys(message &m, const call_name &call, const axes &over, const info &x) {
  if (!x.m.key || over.has(x.m.key.at)) return false;
  m.say(call, ": causal<", x.m.query->name, ", ", x.m.key->name, "> takes ", x.m.key->name,
        " as its keys");
  if (x.m.key->is_alias && !x.m.query->is_alias && over.n == 1)
    m.say("did you mean ", call.name, "<", x.m.key->name, ">?");
  else
    m.say("did you mean causal<", x.m.key->name, ", ", x.m.query->name, ">?");
  m.show(x);
  return true;
}

constexpr bool dead_mask(message &m, const call_name &call, const axes &over, const info &x) {
  const axes dead = x.m.mask_lacks.common(over);
  if (dead.empty()) return false;
  m.say(call, ": a mask does not vary along ", dead)
      .say("it empties whole rows; did you mean to mask ", dead,
           "? if it is meant, mask_rows(scores, keep)")
      .show(x);
  return true;
}

constexpr marks weights_over(const axes &over, const info &x) {
  marks m = values(x.m, as_float(x.m.type));
  m.weights = over;
  return m;
}

}  // namespace qkv::detail
