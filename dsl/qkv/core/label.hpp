#pragma once
// Names of unnamed steps for messages, made of their operands: dot(X, Wq), dot(Q, K) / sqrt(d_k).
#include <qkv/core/expr.hpp>

namespace qkv::detail {

inline constexpr std::size_t label_max =
    20;  // longer operands are shortened to dot(..), so labels stay short

constexpr bool is_infix(sv label) {
  int depth = 0;
  for (char c : label) {
    depth += (c == '(') - (c == ')');
    if (c == ' ' && depth == 0) return true;
  }
  return false;
}

constexpr bool is_infix(op o) {
  return o >= op::add && o <= op::or_ && o != op::min && o != op::max && o != op::pow;
}

constexpr void put_operand(text &t, sv label, bool infix) {
  const bool parentheses = infix && is_infix(label);
  if (label.size() <= label_max) {
    t << (parentheses ? "(" : "") << label << (parentheses ? ")" : "");
  } else if (is_infix(label)) {
    t << (infix ? "(..)" : "..");
  } else {
    const std::size_t arguments = label.find('(');
    t << label.substr(0, arguments) << (arguments == sv::npos ? "" : "(..)");
  }
}

template <class... Info>
constexpr text label_of(op kind, const Info &...x) {
  text t;
  const char *between = "";
  if (is_infix(kind)) {
    ((t << between, put_operand(t, x.label, true), t << " " << (between[0] ? "" : name_of(kind)),
      between = " "),
     ...);
    --t.n;
  } else if (kind == op::neg || kind == op::not_) {
    t << (kind == op::neg ? "-" : "!");
    (put_operand(t, x.label, true), ...);
  } else {
    t << name_of(kind) << "(";
    ((t << between, put_operand(t, x.label, false), between = ", "), ...);
    t << ")";
  }
  return t;
}

// The label of the step that Rule makes of these operands, as a template argument.
template <auto Rule, class... X>
inline constexpr text label_text = Rule.label(of<X>...);
template <auto Rule, class... X>
inline constexpr auto label = [] {
  constexpr std::size_t n = label_text<Rule, X...>.n;
  str<n + 1> r;
  for (std::size_t i = 0; i <= n; ++i) r.s[i] = label_text<Rule, X...>.b[i];
  return r;
}();

}  // namespace qkv::detail
