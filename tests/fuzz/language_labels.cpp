// SPDX-License-Identifier: BSL-1.0
// Labels of steps, as the compiler makes them (dsl/qkv/core/label.hpp): some rules read them.
#include "tests/fuzz/language.hpp"

namespace qkv::fuzz {
namespace {

std::string text_of(const detail::label_text &t) { return std::string(t.view()); }

}  // namespace

std::string language::label_for(const step &s, const operands &in) const {
  const auto operand = [&](std::size_t k) { return in[k]->x.label; };
  const auto of_axis = [&](op kind) {
    return text_of(detail::label_of(kind, axis(s.over[0])->name));
  };
  switch (s.what) {
    case word::root:
      return of_axis(op::sqrt);
    case word::filled:
      return s.number == 0 ? "zeros" : "filled";
    case word::plain:
      return std::string(operand(0));
    case word::let:
      return s.name;
    case word::slice:
      return text_of(detail::call_label("slice", operand(0), operand(1)));
    case word::rows:
      return text_of(detail::label_of(op::mask, operand(0), operand(1)));
    case word::joined:
      return text_of(detail::label_of(op::concat, operand(0), operand(1)));
    case word::causal: {
      const detail::text pair =
          detail::related_pair(relation::causal, {axis(s.over[0])}, {axis(s.over[1])});
      return std::string(pair.view());
    }
    case word::step:
      break;
  }
  switch (s.kind) {
    case op::input:
    case op::param:
      return s.name;
    case op::number:
      return "number";
    case op::index:
    case op::size:
    case op::scan:
      return of_axis(s.kind);
    case op::last:
      return text_of(detail::label_of(op::last, axis(r_[s.in[0]].over[0])->name));
    case op::carried:
      return in[0]->x.number() ? "state" : std::string(operand(0));
    case op::element:
      return std::string(operand(0));
    default:
      return text_of(in.size() == 1 ? detail::label_of(s.kind, operand(0))
                     : in.size() == 2
                         ? detail::label_of(s.kind, operand(0), operand(1))
                         : detail::label_of(s.kind, operand(0), operand(1), operand(2)));
  }
}

}  // namespace qkv::fuzz
