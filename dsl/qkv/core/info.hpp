#pragma once
// What rules know of an operand.
#include <qkv/core/marks.hpp>

namespace qkv::core {

enum class form : unsigned char { other, number, index, tensor };

// What rules see of an operand.
struct info {
  sv label;
  axes s;
  marks m;
  form kind = form::other;
  bool checked = false;  // inside a formula (core/formula.hpp)
  bool refused = false;  // the result of a refused call (core/checked.hpp)

  constexpr bool tensor() const { return kind == form::tensor; }
  constexpr bool index() const { return kind == form::index; }
  constexpr bool number() const { return kind == form::number; }
  constexpr bool param() const { return !tensor() || m.param; }
};

// Label, shape and marks of an expression: one object, to which types refer. Types stay short.
template <str Label, axes Shape, marks Meaning, bool Checked = false, form Kind = form::tensor>
struct facts {
  static constexpr info v{Label.view(), Shape, Meaning, Kind, Checked};
};

template <str Label, axes Shape, marks Meaning, bool Checked = false>
using index_facts = facts<Label, Shape, Meaning, Checked, form::index>;

}  // namespace qkv::core
