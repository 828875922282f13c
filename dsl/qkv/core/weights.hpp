// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shared by softmax and normalize: checks of the masks they will see, and the marks of weights.
#include <qkv/core/relation.hpp>
#include <qkv/core/step.hpp>
#include <qkv/core/treatment.hpp>

namespace qkv::detail {

// A causal mask names its keys, and so does a bias that distinguishes keys before the query from
// those after it; weights must be over them. Either may be the slip. It is the softmax where the
// keys are an alias of the queries, as they were named to be keys.
constexpr bool wrong_keys(message &m, const call_name &call, const axes &over, const info &x) {
  if (!x.m.sides.key || over.has(x.m.sides.key.at)) return false;
  m.say(call, ": ", related_pair(x.m.sides.by, x.m.sides.query, x.m.sides.key), " takes ",
        x.m.sides.key->name, " as its keys");
  const bool swapped = over.has(x.m.sides.query.at);
  if (same_name(x.m.sides.query.at, x.m.sides.key.at))
    m.say("did you mean ", related_pair(x.m.sides.by, x.m.sides.query, over[0]), "?");
  else if (over.n == 1 && (!swapped || (x.m.sides.key->is_alias && !x.m.sides.query->is_alias)))
    m.say("did you mean ", call.name, "<", x.m.sides.key->name, ">?");
  else
    m.say("did you mean ", related_pair(x.m.sides.by, x.m.sides.key, x.m.sides.query), "?");
  m.show(x);
  return true;
}

// A mask of keys under a softmax over the queries: the keys are an alias of the queries, so the
// softmax is the slip. Otherwise the mask may be the slip.
constexpr bool dead_mask(message &m, const call_name &call, const axes &over, const info &x) {
  const axes dead = x.m.lacks.mask.common(over);
  if (dead.empty() || over.n > 1) return false;  // of several axes, each of several masks has one
  axes keys;
  for (const axis_data *a : x.m.hidden.masked.without(over))
    if (a->is_alias && same_name(a->same_as, over[0])) keys.add(a);
  m.say(call, ": a mask does not vary along ", dead);
  constexpr sv then = "? if it is meant, mask_rows(scores, keep)";
  if (keys.n == 1 && !over[0]->is_alias)
    m.say("it empties whole rows; did you mean ", call.name, "<", keys, ">", then);
  else
    m.say("it empties whole rows; did you mean to mask ", dead, then);
  m.show(x);
  return true;
}

// A mask of a factor of the scores: a removed key has the score 0, and so a weight.
constexpr bool masked_too_early(message &m, const call_name &call, const axes &over,
                                const info &x) {
  const axes zeroed = x.m.hidden.zeroed.common(over);
  if (zeroed.empty()) return false;
  m.say(call, ": a factor of ", x.label, " was masked along ", zeroed,
        ", so its scores are 0 there, and seen")
      .say("mask the scores instead; if it is meant, where(keep, x, 0) in place of that mask")
      .show(x);
  return true;
}

constexpr bool dropped_too_early(message &m, const call_name &call, const info &x) {
  if (!x.m.hidden.dropped) return false;
  m.say(call, ": ", x.label, " had dropout: what it left out is 0 there, and seen")
      .say("did you mean dropout<p>(", call.name, "<", call.over,
           ">(..), seed)? if it is meant, plain(..) of the scores")
      .show(x);
  return true;
}

constexpr marks weights_over(const axes &over, const info &x) {
  marks m = values(x.m, as_float(x.m.type));
  m.weights = over;
  m.hidden.masked = x.m.hidden.masked.common(over);
  m.split = x.m.split;
  return m;
}

}  // namespace qkv::detail
