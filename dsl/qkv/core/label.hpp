// SPDX-License-Identifier: BSL-1.0
#pragma once
// Names of unnamed steps for messages, made of their operands: dot(X, Wq), dot(Q, K) / sqrt(d_k).
#include <qkv/core/expr.hpp>

namespace qkv::detail {

inline constexpr std::size_t label_max =
    20;  // a longer operand is shortened to dot(..), so labels stay short

// True for the label of an operator: it has a blank outside parentheses that does not follow a
// comma, as in causal<seq, kv>.
constexpr bool is_infix(sv label) {
  int depth = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    depth += (c == '(') - (c == ')');
    if (c == ' ' && depth == 0 && label[i - 1] != ',') return true;
  }
  return false;
}

// True for the label of a call: softmax(x), of "softmax(".
constexpr bool is_call(sv label, sv begin) { return label.starts_with(begin) && !is_infix(label); }

// Two steps may share a label that has dots for a long operand.
constexpr bool is_shortened(sv label) { return label.find("..") != sv::npos; }

constexpr bool is_infix(op o) {
  return o >= op::add && o <= op::or_ && o != op::min && o != op::max && o != op::pow;
}

template <std::size_t N>
constexpr void put_operand(text_buffer<N> &t, sv label, bool infix) {
  const bool parentheses = infix && is_infix(label);
  if (label.size() <= label_max) {
    t << (parentheses ? "(" : "") << label << (parentheses ? ")" : "");
  } else if (is_infix(label)) {
    t << (infix ? "(..)" : "..");
  } else {
    std::size_t name = 0;
    while (name < label.size() && label[name] != '(') ++name;
    t << label.substr(0, name) << (name < label.size() ? "(..)" : "");
  }
}

// The label as an operand of * in a hint.
constexpr text as_factor(sv label) {
  text t;
  return is_infix(label) ? t << "(" << label << ")" : t << label;
}

template <class... Label>
constexpr label_text call_label(sv name, const Label &...operand) {
  label_text t;
  const char *between = "";
  t << name << "(";
  ((t << between, put_operand(t, operand, false), between = ", "), ...);
  return t << ")";
}

template <class... Label>
constexpr label_text label_of(op kind, const Label &...operand) {
  label_text t;
  const char *between = "";
  if (is_infix(kind)) {
    ((t << between, put_operand(t, operand, true), t << " " << (between[0] ? "" : name_of(kind)),
      between = " "),
     ...);
    --t.n;
  } else if (kind == op::neg || kind == op::not_) {
    t << (kind == op::neg ? "-" : "!");
    (put_operand(t, operand, true), ...);
  } else {
    t << call_label(name_of(kind), operand...);
  }
  return t;
}

template <const auto &T>
inline constexpr auto as_str = str_of<T.n>(T.view());

template <op Kind, class... X>
inline constexpr label_text step_text = label_of(Kind, of<X>.label...);
template <op Kind, class... X>
inline constexpr const auto &step_label = as_str<step_text<Kind, X...>>;

template <op Kind, const axis_data *Ax>
inline constexpr label_text axis_text = label_of(Kind, Ax->name);
template <op Kind, const axis_data *Ax>
inline constexpr const auto &axis_label = as_str<axis_text<Kind, Ax>>;

}  // namespace qkv::detail
