#pragma once
// Several rules tried one after the other, before any step is built: what a function over
// operations needs for its error to stand on the caller's line.
#include <qkv/core/rule.hpp>

namespace qkv::detail {

// A check reads like the function: each call applies a rule to operands, and gives what the step
// would be as an operand of the next. The text of the first rule that refuses is kept.
struct trial {
  text why{};

  template <class Rule, class... Info>
  constexpr info operator()(sv label, const Rule &rule, const Info &...x) {
    if (why.empty()) why = rule.check(x...);
    if (!why.empty()) return {label, {}, {}, form::tensor};
    return {label, rule.shape(x...), rule.meaning(x...), form::tensor};
  }
};

}  // namespace qkv::detail
