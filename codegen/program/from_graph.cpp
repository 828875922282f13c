#include "codegen/program/from_graph.hpp"

#include <map>
#include <stdexcept>

namespace qkv::codegen {
namespace {

class conversion {
 public:
  conversion(std::string_view name, const graph &g) : g_(g) { p_.name = name; }

  program run() {
    const std::vector<bool> used = needed();
    std::vector<node_id> at(g_.nodes.size(), -1);
    for (std::size_t k = 0; k < g_.nodes.size(); ++k) {
      if (!used[k]) continue;
      node n = convert(g_.nodes[k], at);
      at[k] = static_cast<node_id>(p_.nodes.size());
      if (n.kind == op::input || n.kind == op::param) p_.arguments.push_back(at[k]);
      if (n.kind == op::output) p_.outputs.push_back(at[k]);
      p_.nodes.push_back(std::move(n));
    }
    return std::move(p_);
  }

 private:
  // Arguments stay, used or not: they are part of the signature.
  std::vector<bool> needed() const {
    std::vector<bool> used(g_.nodes.size(), false);
    for (std::size_t k = g_.nodes.size(); k-- > 0;) {
      const qkv::node &n = g_.nodes[k];
      if (n.kind == op::output || n.kind == op::input || n.kind == op::param) used[k] = true;
      if (!used[k]) continue;
      for (int operand : {n.a, n.b, n.c})
        if (operand >= 0) used[static_cast<std::size_t>(operand)] = true;
    }
    return used;
  }

  node convert(const qkv::node &n, const std::vector<node_id> &at) {
    node r;
    r.kind = n.kind;
    r.type = n.type;
    r.value = n.number;
    r.name = n.label;
    for (int operand : {n.a, n.b, n.c})
      if (operand >= 0) r.in.push_back(at[static_cast<std::size_t>(operand)]);
    for (const axis_data *a : n.shape) r.shape.push_back(axis_of(a));
    for (const axis_data *a : n.over) r.over.push_back(axis_of(a));
    if (r.kind == op::rename) same_size(r.over[0], r.over[1]);
    if (r.kind == op::split || r.kind == op::merge) product(r.kind, r.over);
    return r;
  }

  axis_id axis_of(const axis_data *a) {
    if (auto it = axes_.find(a->name); it != axes_.end()) {
      if (p_.axes[it->second].size != a->size)
        throw std::runtime_error(p_.name + ": two axes are named " + std::string(a->name) + " and have different sizes");
      return it->second;
    }
    const axis_id root = a->same_as ? axis_of(a->same_as) : -1;
    const axis_id id = static_cast<axis_id>(p_.axes.size());
    p_.axes.push_back({std::string(a->name), a->size, a->batch, root < 0 ? id : root});
    axes_[a->name] = id;
    return id;
  }

  bool run_time(axis_id a) const { return p_.axes[a].size < 0; }

  void same_size(axis_id a, axis_id b) {
    if (p_.axes[a].root == p_.axes[b].root || (!run_time(a) && !run_time(b))) return;
    add({condition::same_size, a, b, -1, "rename<" + p_.axes[a].name + ", " + p_.axes[b].name + ">"});
  }

  void product(op kind, const std::vector<axis_id> &o) {
    if (!run_time(o[0]) && !run_time(o[1]) && !run_time(o[2])) return;
    std::string text = std::string(name_of(kind)) + "<";
    for (axis_id a : o) text += p_.axes[a].name + (a == o[2] ? ">" : ", ");
    add({condition::product, o[0], o[1], o[2], text});
  }

  void add(const condition &c) {
    for (const condition &old : p_.conditions)
      if (old.what == c.what && old.a == c.a && old.b == c.b && old.c == c.c) return;
    p_.conditions.push_back(c);
  }

  const graph &g_;
  program p_;
  std::map<std::string_view, axis_id> axes_;
};

}  // namespace

program program_from_graph(std::string_view name, const graph &g) { return conversion(name, g).run(); }

}  // namespace qkv::codegen
