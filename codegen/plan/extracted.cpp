// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/extracted.hpp"

#include <fmt/format.h>

#include <utility>

#include "codegen/program/assemble.hpp"

namespace qkv::codegen {

extraction::extraction(const program &from, std::string name, arguments given)
    : from_(from), given_(std::move(given)) {
  made_.p = without_steps(from);
  made_.p.name = std::move(name);
}

void extraction::last(node_id state, node_id next, part_argument to) {
  wanted_.push_back({.to = to, .like = from_[state], .value = state, .next = next, .added = {}});
}

void extraction::result(node_id value, part_argument to, const node &like) {
  wanted_.push_back({.to = to, .like = like, .value = value, .added = {}});
}

void extraction::sum(node_id value, part_argument to, part_argument added) {
  wanted_.push_back({.to = to, .like = from_[value], .value = value, .added = added});
}

void extraction::zeros(part_argument to, const node &like) {
  wanted_.push_back({.to = to, .like = like, .added = {}});
}

void extraction::find(node_id n, std::map<node_id, bool> &needed) {
  if (!needed.emplace(n, true).second || given_(n) || starts_.count(n)) return;
  if (is_reversal_(n)) return find(from_[n].in[0], needed);
  for (node_id operand : from_[n].in) find(operand, needed);
}

node_id extraction::put(node x) {
  made_.p.nodes.push_back(std::move(x));
  return static_cast<node_id>(made_.p.nodes.size()) - 1;
}

node_id extraction::position_from_end(axis_id a) {
  const auto of_axis = [&](op kind, std::vector<axis_id> shape) {
    node x;
    x.kind = kind;
    x.type = i32;
    x.over = {a};
    x.shape = std::move(shape);
    return put(std::move(x));
  };
  const auto less = [&](node_id left, node_id right) {
    node x;
    x.kind = op::sub;
    x.type = i32;
    x.in = {left, right};
    x.shape = made_.p[right].shape;
    return put(std::move(x));
  };
  node one;
  one.kind = op::number;
  one.type = i32;
  one.value = 1;
  return less(less(of_axis(op::size, {}), put(std::move(one))), of_axis(op::index, {a}));
}

node_id extraction::argument(const node &like, const part_argument &from) {
  node x;
  x.kind = op::input;
  x.type = like.type;
  x.shape = like.shape;
  x.is_position = like.is_position;
  x.name = fmt::format("v{}{}", from.value, from.is_later ? "_later" : "");
  made_.arguments.push_back(from);
  made_.p.arguments.push_back(put(std::move(x)));
  return made_.p.arguments.back();
}

node_id extraction::value_of(const wanted &w, const std::map<node_id, node_id> &at) {
  node x;
  x.type = w.like.type;
  x.shape = w.like.shape;
  if (w.value == no_step) {
    node zero;
    zero.kind = op::number;
    zero.type = x.type;
    x.kind = op::broadcast;
    x.over = x.shape;
    x.in = {put(std::move(zero))};
    return x.shape.empty() ? x.in[0] : put(std::move(x));
  }
  const node_id value = at.at(w.value);
  if (w.next == no_step) return value;
  x.kind = op::last;
  x.over = w.like.over;
  x.in = {value, at.at(w.next)};
  return put(std::move(x));
}

kernel_part extraction::taken(bool is_of_chunk) {
  std::map<node_id, bool> needed;
  for (const wanted &w : wanted_)
    for (const node_id n : {w.value, w.next})
      if (n != no_step) find(n, needed);
  std::map<node_id, node_id> at, start;
  for (const auto &[n, is] : needed) {
    const auto like = like_.find(n);
    if (const auto from = given_(n))
      at[n] = argument(from_[like == like_.end() ? n : like->second], *from);
    else if (const auto own = starts_.find(n); own != starts_.end())
      start[n] = argument(from_[n], own->second);
  }
  std::vector<node_id> added;
  for (const wanted &w : wanted_) added.push_back(w.added ? argument(w.like, *w.added) : no_step);
  for (const auto &[n, is] : needed) {  // operands first
    if (at.count(n)) continue;
    node x = from_[n];
    x.name.clear();
    if (const auto from = start.find(n); from != start.end())
      x.in = {from->second};
    else if (is_reversal_(n))
      x.in = {at.at(x.in[0]), position_from_end(x.over[0])};
    else
      for (node_id &operand : x.in) operand = at.at(operand);
    at[n] = put(std::move(x));
  }
  for (std::size_t k = 0; k < wanted_.size(); ++k) {
    const wanted &w = wanted_[k];
    node_id value = value_of(w, at);
    node x;
    x.type = w.like.type;
    x.shape = w.like.shape;
    if (w.added) {
      x.kind = op::add;
      x.in = {added[k], value};
      value = put(x);
    }
    x.kind = op::output;
    x.name = fmt::format("r{}{}", w.to.value, w.to.is_later ? "_later" : "");
    x.in = {value};
    made_.arguments.push_back(w.to);
    made_.p.outputs.push_back(put(std::move(x)));
  }
  made_.p = assembled(std::move(made_.p));
  made_.is_of_chunk = is_of_chunk;
  return std::move(made_);
}

}  // namespace qkv::codegen
