// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/from_graph.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "codegen/program/assemble.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

class converter {
 public:
  explicit converter(sv name) { p_.name = name; }

  program run(std::span<const core::argument> arguments, std::span<const core::argument> outputs,
              const core::graph &g) {
    for (const core::argument &a : arguments) ids(a.shape);
    for (const core::argument &o : outputs) ids(o.shape);
    for (const core::node &n : g) put(n);
    for (std::size_t k = 0; k < arguments.size(); ++k)
      p_.arguments.push_back(static_cast<node_id>(k));
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (p_[n].kind == op::output) p_.outputs.push_back(n);
    return assembled(std::move(p_));
  }

 private:
  axis_id id(const core::axis_data *a) {
    for (axis_id k = 0; k < static_cast<axis_id>(p_.axes.size()); ++k)
      if (p_.axes[k].name == a->name) return known(k, a);
    const auto k = static_cast<axis_id>(p_.axes.size());
    p_.axes.push_back({std::string(a->name), a->size, a->batch, k});
    if (a->same_as && a->size < 0) {
      const axis_id root = id(core::root_of(a));  // may move p_.axes
      p_.axes[k].root = root;
    }
    return k;
  }

  axis_id known(axis_id k, const core::axis_data *a) const {
    if (p_.axes[k].size != a->size)
      throw std::invalid_argument(p_.name + ": two axes are named " + p_.axes[k].name +
                                  " and have different sizes");
    return k;
  }

  std::vector<axis_id> ids(const core::axes &s) {
    std::vector<axis_id> r;
    for (const core::axis_data *a : s) r.push_back(id(a));
    return r;
  }

  void put(const core::node &from) {
    node n;
    n.kind = from.kind;
    n.type = from.type;
    for (int operand : {from.a, from.b, from.c})
      if (operand >= 0) n.in.push_back(operand);
    n.shape = ids(from.shape);
    n.over = ids(from.over);
    n.value = from.number;
    n.name = from.label;
    p_.nodes.push_back(std::move(n));
    if (from.kind == op::take) check_position(static_cast<node_id>(p_.nodes.size()) - 1);
  }

  // Kernels clamp a varying position; a constant one outside of the axis is an error, as X[-1]. A
  // slice takes index + first: its end may lie beyond the axis, but not its beginning.
  void check_position(node_id take) const {
    const node &n = p_[take], &position = p_[n.in[1]];
    const bool is_slice = position.kind == op::add && p_[position.in[0]].kind == op::index;
    const node &first = is_slice ? p_[position.in[1]] : position;
    if (first.kind != op::number) return;
    const axis &along = p_.axes[n.over[0]];
    if (first.value < 0 && !is_slice)
      throw std::invalid_argument(
          fmt::format("{}: {}: positions count from 0; the last is size({}) - 1", p_.name,
                      label_of(p_, take), along.name));
    if (along.size >= 0 && first.value >= static_cast<double>(along.size))
      throw std::invalid_argument(fmt::format("{}: {}: {} has {} positions, the last is {}",
                                              p_.name, label_of(p_, take), along.name, along.size,
                                              along.size - 1));
  }

  program p_;
};

}  // namespace

program program_of(sv name, std::span<const core::argument> arguments,
                   std::span<const core::argument> outputs, const core::graph &g) {
  return converter(name).run(arguments, outputs, g);
}

}  // namespace qkv::codegen
