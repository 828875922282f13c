// SPDX-License-Identifier: BSL-1.0
#pragma once
// Scores with some of their positions removed.
#include <qkv/core/call.hpp>
#include <qkv/core/relation.hpp>
#include <qkv/core/treatment.hpp>

namespace qkv {
namespace detail::rule {

// Rows: declared constant along the axis of the weights.
template <bool Rows>
struct mask {
  static constexpr bool rows = Rows;
  static constexpr sv call = Rows ? "mask_rows(scores, keep)" : "mask(scores, keep)";
  static constexpr op kind = op::mask;
  static constexpr axes over{};

  constexpr text check(const info &x, const info &keep) const {
    message m;
    const call_name call{rows ? "mask_rows" : "mask"};
    if (keep.tensor() && is_float(keep.m.type) && x.s.contains(keep.s)) {
      m.say(call, ": ", keep.label, " is ", name_of(keep.m.type), ", not b8")
          .say("did you mean ", x.label, " + ", keep.label, "?");
      return m.say("as a condition, ", keep.label, " == 0 keeps what it adds nothing to")
          .show(keep);
    }
    if (keep.number())
      return m.say(call, ": a number is the same at all positions")
          .say("did you mean causal<query, key>?");
    if (not_logical(m, call, keep)) return m;
    if (const sv seen = inverted_visibility_in(keep.label);
        !seen.empty() && !names_keys_first(keep.m.sides.placed))
      return m.say(call, ": !", seen, " keeps what ", seen, " hides")
          .say("did you mean ", seen, "? if it is meant, ",
               seen.starts_with("document(") ? "let<\"others\">(!..)"
                                             : "compare positions: index(key) >= ..")
          .show(x);
    if (shows_others(m, call, keep)) return m.show(x, keep);
    if (!x.m.weights.empty()) {
      return m.say(call, " after softmax<", x.m.weights, ">")
          .say("mask the scores before softmax; if it is meant, where(keep, plain(", x.label,
               "), 0)")
          .show(x);
    }
    if (unaligned_causal(m, keep)) return m.show(x);
    if (!x.s.contains(keep.s)) {
      m.say(call, ": keep varies along ", keep.s.without(x.s), ", which ", x.label, " lacks");
      say_other_axis(m, keep, x);
      return m.show(x, keep);
    }
    if (!sizes_differ(m, call, x, keep) && !relations_differ(m, call, x, keep))
      rotates_from_0(m, call, x, keep);
    return m;
  }
  // id != rename<seq, kv>(id).
  static constexpr bool shows_others(message &m, const call_name &call, const info &keep) {
    const std::size_t differs = keep.label.find(" != ");
    if (differs == sv::npos) return false;
    const sv l = keep.label.substr(0, differs), r = keep.label.substr(differs + 4);
    if (r != call_label("rename", l).view() && l != call_label("rename", r).view()) return false;
    m.say(call, ": ", keep.label, " hides each position from itself")
        .say("did you mean ", l, " == ", r, "? if it is meant, let<\"others\">(", keep.label, ")");
    return true;
  }
  // Masks are joined by operators.
  template <class... Keep>
  static constexpr text surplus(const info &, const info &keep, const Keep &...more) {
    message m;
    m.say("mask: takes one keep").say("did you mean mask(scores, ", keep.label);
    ((m << " and " << more.label), ...);
    m << ")?";
    return m;
  }
  constexpr axes shape(const info &x, const info &) const { return x.s; }
  constexpr marks meaning(const info &x, const info &keep) const {
    marks m = x.m;
    const axes lacks = rows ? axes{} : x.s.without(keep.s);
    m.lacks.apart = m.lacks.apart || m.lacks.mask.crosses(lacks);
    m.lacks.mask.add(lacks);
    m.hidden.masked.add(keep.s.non_batch());
    m.hidden.zeroed = m.hidden.zeroed.without(keep.s);
    m.sides = sides_of(keep, x);
    m.given = false;
    m.param = x.m.param && keep.param();
    return m;
  }
};

}  // namespace detail::rule

// Computes: the scores where keep holds; the others are removed.
// Shapes:   as the scores, which carry every axis of keep.
// Numerics: removed is not -inf: softmax, normalize, logsumexp, max, min, sum, mean and dot do not
//           see it, not even a NaN. A row with nothing left has weights 0.
// Errors:   keep is not a b8 or varies along an axis that the scores lack; the scores are weights
//           already; an inverted causal or padding mask; id != rename(id), which hides each
//           position from itself; a causal mask between axes of unrelated size without an
//           alignment.
template <traced X, traced Keep>
  requires detail::fits<detail::rule::mask<false>{}, X, Keep>
constexpr auto mask(X scores, Keep keep) {
  return detail::make_step<detail::rule::mask<false>{}>(scores, keep);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::mask<false>, detail::brackets<Ax...>, T...>>
Err mask(T...);

// Computes: as mask, for a keep that is meant not to vary along the axis of the softmax: whole rows
//           are removed.
// Shapes:   as the scores, which carry every axis of keep.
// Numerics: as mask; a removed row has weights 0.
// Errors:   as mask.
template <traced X, traced Keep>
  requires detail::fits<detail::rule::mask<true>{}, X, Keep>
constexpr auto mask_rows(X scores, Keep keep) {
  return detail::make_step<detail::rule::mask<true>{}>(scores, keep);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::mask<true>, detail::brackets<Ax...>, T...>>
Err mask_rows(T...);

}  // namespace qkv
