// SPDX-License-Identifier: BSL-1.0
#pragma once
// Messages in the terms of the language: axes, shapes, calls.
#include <qkv/core/axes.hpp>

namespace qkv::detail {

// seq, kv
template <std::size_t N>
constexpr text_buffer<N> &operator<<(text_buffer<N> &t, const axes &s) {
  for (int i = 0; i < s.n; ++i) t << (i ? ", " : "") << s[i]->name;
  return t;
}

// [batch, seq, d_k=64]
template <std::size_t N>
constexpr void put_shape(text_buffer<N> &t, const axes &s) {
  t << "[";
  for (int i = 0; i < s.n; ++i) {
    t << (i ? ", " : "") << s[i]->name;
    if (s[i]->size >= 0) t << "=" << s[i]->size;
  }
  t << "]";
}

// A message: the misfit, then the likely fix, then the operands; each on a line of its own.
struct message : text {
  constexpr message() = default;

  template <class... T>
  constexpr message &say(T... words) {
    if (!empty()) *this << '\n';
    ((static_cast<text &>(*this) << words), ...);
    return *this;
  }
  // Q[batch, seq, d_k=64]
  constexpr message &show_shape(sv name, const axes &s) {
    say(name);
    put_shape(*this, s);
    return *this;
  }
  template <class... Info>
  constexpr message &show(const Info &...x) {
    (show_shape(x.label, x.s), ...);
    return *this;
  }
};

// softmax<kv>, written only when a message needs it.
struct call_name {
  sv name;
  axes over{};
};
constexpr text &operator<<(text &t, const call_name &c) {
  t << c.name;
  return c.over.empty() ? t : t << "<" << c.over << ">";
}

// dot<d_k>(Q, K)
template <class... Label>
constexpr void put_call(text &t, const call_name &call, const Label &...operand) {
  t << call << "(";
  [[maybe_unused]] sv between = "";
  ((t << between << operand, between = ", "), ...);
  t << ")";
}

constexpr void say_number_wanted(message &m, sv call, sv axis) {
  m.say(call, ": ", axis, " is an axis, not a number")
      .say("did you mean index(", axis, ") or size(", axis, ")?");
}

constexpr text size_of_axis(const axis_data *a) {
  text t;
  return a->size < 0 ? t << "decided at the call" : t << a->size;
}

}  // namespace qkv::detail
