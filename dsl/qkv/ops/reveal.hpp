#pragma once
// What the compiler knows of a step, as an error.
#include <qkv/core/rule.hpp>

namespace qkv {
namespace detail::rule {

struct reveal {
  static constexpr text check(const info &x) {
    message m;
    m.say("reveal: ", x.label, " is ", name_of(x.m.type)).show(x);
    const marks &k = x.m;
    const auto along = [&](sv what, const axes &s) {
      if (!s.empty()) m.say(what, " ", s);
    };
    if (k.given) m.say("an input");
    if (k.param) m.say("made of params alone");
    along("weights over", k.weights);
    along("contracted over", k.contracted);
    along("reduced over", k.statistic);
    along("masked along", k.masked);
    along("0 where a mask was, along", k.zeroed);
    along("a mask is constant along", k.mask_lacks);
    along("a term is constant along", k.bias_lacks);
    if (k.query) m.say("queries ", k.query->name, ", keys ", k.key->name);
    if (k.unaligned) m.say("how they align is not said");
    if (k.scaled) m.say("divided by sqrt(", k.scaled->name, ")");
    if (k.first) m.say("split as ", k.first->name, ", ", k.second->name);
    if (k.dropped) m.say("with dropout");
    return m;
  }
};

}  // namespace detail::rule

// Computes: nothing: an error on this line shows the shape of x, its type and what it is for.
template <traced X, class Err = detail::refusal<detail::verdict<detail::rule::reveal{}, X>>>
Err reveal(X);

}  // namespace qkv
