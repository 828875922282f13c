// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/mistakes.hpp"

#include <algorithm>

#include "codegen/program/assemble.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::fuzz {

using codegen::node;
using codegen::node_id;
using codegen::program;
using core::op;

namespace {

// Changes each step of these kinds in place.
template <class F>
std::function<program(program)> at_each(op kind, F change) {
  return [=](program p) {
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
      if (p[n].kind == kind) change(p, p.nodes[n]);
    return codegen::without_dead_steps(std::move(p));
  };
}

// Replaces nodes of this kind by their operand wherever they are used.
std::function<program(program)> left_out(op kind) {
  return [=](program p) {
    std::vector<node_id> at(p.nodes.size());
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
      for (node_id &operand : p.nodes[n].in) operand = at[operand];
      at[n] = p[n].kind == kind ? p[n].in[0] : n;
    }
    return codegen::without_dead_steps(std::move(p));
  };
}

}  // namespace

const std::vector<mistake> &mistakes() {
  static const std::vector<mistake> all = {
      {"a mask is forgotten", "lowering", left_out(op::mask)},
      {"<= is taken for <", "lowering",
       at_each(op::less_equal, [](program &, node &n) { n.kind = op::less; })},
      {"a difference of weights becomes their sum", "distribute_weights",
       at_each(op::sub,
               [](program &p, node &n) {
                 if (codegen::is_floating(n.type) && p[n.in[0]].kind == op::dot) n.kind = op::add;
               })},
      {"a shift that is no maximum is dropped", "drop_shift",
       [](program p) {
         for (node &n : p.nodes)
           if (n.kind == op::softmax && p[n.in[0]].kind == op::sub) n.in[0] = p[n.in[0]].in[0];
         return codegen::without_dead_steps(std::move(p));
       }},
      {"a softplus is taken for its limit", "join_softplus",
       at_each(op::softplus, [](program &, node &n) { n.kind = op::relu; })},
      {"numbers of one type are one number", "merge_common_steps",
       [](program p) {
         node_id first = -1;
         for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
           for (node_id &operand : p.nodes[n].in)
             if (first >= 0 && p[operand].kind == op::number && p[operand].type == f32)
               operand = first;
           if (first < 0 && p[n].kind == op::number && p[n].type == f32) first = n;
         }
         return codegen::without_dead_steps(std::move(p));
       }},
      {"division becomes multiplication", "fold_constants",
       at_each(op::div,
               [](program &p, node &n) {
                 if (p[n.in[1]].kind != op::number) n.kind = op::mul;
               })},
      {"a state is never changed", "hoist_from_scan",
       at_each(op::scan, [](program &, node &n) { n.in[1] = n.in[0]; })},
      {"a scale is off by 1e-9", "fold_scale",
       at_each(op::number,
               [](program &, node &n) {
                 if (n.value == 0.125 || n.value == 0.25 || n.value == 0.5) n.value *= 1 + 1e-9;
               })},
      {"the factors of a product are one", "order_contractions",
       at_each(op::dot,
               [](program &p, node &n) {
                 if (codegen::same_set(p[n.in[0]].shape, p[n.in[1]].shape)) n.in[1] = n.in[0];
               })},
      {"casts are left out", "widen", left_out(op::cast)},
      {"the last position of a table is one too far", "lowering",
       at_each(op::take,
               [](program &p, node &n) {
                 if (p[n.in[1]].kind == op::add) n.in[1] = p[n.in[1]].in[0];
               })},
      {"the parts of a whole are exchanged", "lowering",
       at_each(op::concat,
               [](program &, node &n) {
                 std::swap(n.in[0], n.in[1]);
                 std::swap(n.over[1], n.over.back());
               })},
  };
  return all;
}

const std::vector<wrong_cut> &wrong_cuts() {
  static const std::vector<wrong_cut> all = {
      {"stages in the reverse order",
       [](const program &p) {
         codegen::stages s = cut_into_stages(p);
         std::reverse(s.list.begin(), s.list.end());
         for (std::size_t k = 0; k < s.list.size(); ++k)
           for (node_id r : codegen::roots_of(s.list[k])) s.stored_by[r] = static_cast<int>(k);
         return s;
       }},
      {"a contraction that reads another argument",
       [](const program &p) {
         codegen::stages s = cut_into_stages(p);
         for (codegen::stage &x : s.list)
           if (auto *c = std::get_if<codegen::contraction_stage>(&x))
             for (codegen::node_id n : p.arguments)
               if (n != c->left && p[n].shape == p[c->left].shape && p[n].type == p[c->left].type)
                 c->left = n;
         return s;
       }},
      {"scores without their mask",
       [](const program &p) {
         codegen::stages s = cut_into_stages(p);
         for (codegen::stage &x : s.list)
           if (auto *a = std::get_if<codegen::attention_stage>(&x);
               a && a->is_normalised() && p[a->scores].kind == op::mask)
             a->scores = p[a->scores].in[0];
         return s;
       }},
  };
  return all;
}

std::vector<rewrite> rewrites_with(const mistake &m) {
  std::vector<rewrite> list = all_rewrites();
  if (m.in == "lowering") {
    list.push_back({m.in, m.make});
    return list;
  }
  for (rewrite &r : list)
    if (r.name == m.in) r.run = [m, run = r.run](const program &p) { return m.make(run(p)); };
  return list;
}

}  // namespace qkv::fuzz
