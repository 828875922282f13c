// SPDX-License-Identifier: BSL-1.0
#pragma once
// Rows of a table, picked by position: embeddings, relative tables, paged caches.
#include <qkv/core/call.hpp>
#include <qkv/core/views.hpp>

namespace qkv {
namespace detail::rule {

struct take {
  axes over{};  // the axis that the positions count along
  static constexpr sv call = "take<axis>(table, position)";
  static constexpr op kind = op::take;
  static constexpr dtype number = i32;

  constexpr text check(const info &table, const info &position) const {
    message m;
    const call_name call{"take", over};
    if (needs_input(m, call, table) || lacks_axis(m, call, over, table)) return m;
    if (position.m.type != i32) {
      return m.say(call, ": ", position.label, " is ", name_of(position.m.type), ", not i32")
          .say("positions are whole numbers: cast<i32>(", position.label, ")?")
          .show(table, position);
    }
    if (is_difference(position.label)) {
      return m.say(call, ": ", position.label, " is negative where the second index is larger")
          .say(
              "did you leave out an offset, as + 64 of min(max(.., -64), 64)? if it is meant, "
              "max(.., 0)")
          .show(table);
    }
    if (position.label == (text() << "size(" << over[0]->name << ")").view())
      return m.say(call, ": positions end at ", position.label, " - 1")
          .say("did you mean ", position.label, " - 1? if it is meant, ", position.label, " + 0")
          .show(table);
    const info rest = {table.label, table.s.without(over), table.m, table.kind};
    if (sizes_differ(m, call, rest, position)) return m;
    if (too_many_axes(m, call, shape(table, position))) m.show(table, position);
    return m;
  }
  // index(kv) - index(seq), without an offset.
  static constexpr bool is_difference(sv position) {
    const std::size_t minus = position.find(" - ");
    return position.starts_with("index(") && minus != sv::npos &&
           position.substr(minus + 3).starts_with("index(") && position.find(' ') == minus &&
           position.find(' ', minus + 3) == sv::npos;
  }
  constexpr axes shape(const info &table, const info &position) const {
    const axes rest = table.s.without(over);
    return position.s.without(rest).empty() ? rest
                                            : replace(table.s, over, position.s.without(rest));
  }
  constexpr marks meaning(const info &table, const info &position) const {
    const axes picked = position.s;
    marks m = view_of(table.m, [&](const axes &s) { return s.without(over).without(picked); });
    m.param = table.m.param && position.param();
    return m;
  }
};

}  // namespace detail::rule

// Computes: the table's values at these positions along Ax: result[.., i] =
//           table[.., position[.., i]].
// Shapes:   Ax replaced by the axes of position that the table lacks; axes of both are visited
//           together.
// Numerics: no arithmetic. A position outside of the table is moved to its nearest end; a number
//           there is refused when the kernel is built.
// Errors:   the table lacks Ax; position is not i32, is one index minus another, without an offset,
//           or is size(Ax), one behind the last.
template <an_axis auto Ax, traced Table, operand Position>
  requires detail::fits<detail::rule::take{core::axes_of<Ax>()}, Table, Position>
constexpr auto take(Table table, Position position) {
  return detail::make_step<detail::rule::take{core::axes_of<Ax>()}>(table, position);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::take, detail::brackets<Ax...>, T...>>
Err take(T...);

}  // namespace qkv
