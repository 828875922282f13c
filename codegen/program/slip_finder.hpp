// SPDX-License-Identifier: BSL-1.0
#pragma once
// The common part of all that look for slips in a program.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Words after the text of a slip: how the author says that it is none.
inline std::string way_to_insist(const std::string &text) {
  if (text.find("if it is meant") != text.npos) return "";
  return (text.back() == '?' ? std::string(" ") : "; ") + "if it is meant, let<..>(..)";
}

class slip_finder {
 protected:
  explicit slip_finder(const program &p) : p_(p), users_(users_of(p)) {}

  // Reports step n, with the way to insist where the text has none of its own.
  template <class... T>
  void say(node_id n, fmt::format_string<T...> format, T &&...values) {
    std::string text = fmt::format(format, std::forward<T>(values)...);
    text += way_to_insist(text);
    slips_.push_back({n, std::move(text)});
  }

  // True for a step of this kind that no let() names.
  bool is(op kind, node_id n) const { return is_unnamed(p_, kind, n); }

  axis_id root(axis_id a) const { return p_.axes[a].root; }
  bool has_root(const std::vector<axis_id> &axes, axis_id of) const {
    return std::any_of(axes.begin(), axes.end(), [&](axis_id a) { return root(a) == root(of); });
  }

  // The number of a position's block: cast<i32>(index(position) / size).
  struct block {
    axis_id position;
    double size;
  };
  std::optional<block> block_of(node_id n) const {
    n = inner_of(p_, n);
    if (!is(op::cast, n)) return {};
    const node_id share = inner_of(p_, p_[n].in[0]);
    if (!is(op::div, share)) return {};
    const node_id by = inner_of(p_, p_[share].in[1]);
    node_id position = unconverted(p_, p_[share].in[0]);
    if (is(op::add, position) && is_number(p_, inner_of(p_, p_[position].in[1])))
      position = unconverted(p_, p_[position].in[0]);  // + 0.5, which rounding cannot reach
    if (p_[position].kind != op::index || !is_number(p_, by)) return {};
    return block{p_[position].over[0], p_[by].value};
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  std::vector<slip> slips_;
};

}  // namespace qkv::codegen
