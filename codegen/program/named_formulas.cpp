// SPDX-License-Identifier: BSL-1.0
// Formulas that are slips by the names of what they are made of.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "codegen/program/formula_checks.hpp"
#include "codegen/program/formula_rules.hpp"

namespace qkv::codegen {
namespace {

using namespace checks;

// An argument is, or the step is made of one, whose name has this word.
bool is_made_of(const place &x, const char *variable, std::string_view word) {
  return depends_on(x.p, x[variable], [&](node_id m) {
    return is_argument(x.p[m]) && has_word(x.p[m].name, {word});
  });
}

// u is of the draft alone and v of the target alone.
bool are_draft_and_target(const place &x) {
  return is_made_of(x, "u", "draft") && !is_made_of(x, "u", "target") &&
         is_made_of(x, "v", "target") && !is_made_of(x, "v", "draft");
}

// "q" of Wq, W_q and bq; "" of other names.
std::string part_of_name(const std::string &name, char initial) {
  if (name.empty() || name.front() != initial) return "";
  return name.substr(name.size() > 1 && name[1] == '_' ? 2 : 1);
}

// A matrix Wq and a bias bk, where Wk and bq are arguments, too.
bool is_of_other_matrix(const place &x) {
  const std::string w = part_of_name(x.p[x["w"]].name, 'W'),
                    b = part_of_name(x.p[x["b"]].name, 'b');
  if (w.empty() || b.empty() || w == b) return false;
  const auto has = [&](char initial, const std::string &part) {
    for (const node &n : x.p.nodes)
      if (n.kind == op::param && part_of_name(n.name, initial) == part) return true;
    return false;
  };
  return has('W', b) && has('b', w);
}

// Of a guess without a condition, and with one.
bool is_without_condition(const place &x, const char *variable) {
  return is_made_of(x, variable, "uncond") || is_made_of(x, variable, "negative");
}

// g is a strength above 1, by its number or name.
bool is_guided_away(const place &x) {
  const auto is_with_condition = [&](node_id m) {
    const std::string &name = x.p[m].name;
    return is_argument(x.p[m]) && (name.starts_with("cond") || has_word(name, {"_cond"}));
  };
  const node &g = x.p[inner_of(x.p, x["g"])];
  const bool is_strength = g.kind == op::number
                               ? g.value > 1
                               : g.kind == op::input && has_word(g.name, {"guidance", "scale"});
  return is_strength && is_without_condition(x, "u") && !is_without_condition(x, "c") &&
         depends_on(x.p, x["c"], is_with_condition);
}

// Matrices of a gate and of what it scales, in either order.
bool are_gate_and_up(const place &x) {
  const auto says = [&](const char *variable, std::initializer_list<std::string_view> words) {
    const node &of = x.p[inner_of(x.p, x[variable])];
    return of.kind == op::param && has_word(of.name, words);
  };
  const auto are = [&](const char *g, const char *u) {
    return (says(g, {"gate", "Wg", "W_g"}) && says(u, {"up", "Wu", "W_u"})) ||
           (says(g, {"w1", "W1"}) && says(u, {"w3", "W3"}));
  };
  return are("u", "v") || are("v", "u");
}

const formula_rule named_rules[] = {
    {{"g:smooth(dot(x, u)) + dot(x, v)"},
     are_gate_and_up,
     "adds the gate {g} to what it should scale; did you mean *?"},
    {{"smooth(dot(x, u) * dot(x, v))"},
     are_gate_and_up,
     "activates the product with {u} and {v}; did you mean the activation of the gate alone?"},
    {{"(r + #g * v) - y * (1 - d)"},
     [](const place &x) {
       return is_made_of(x, "d", "done") && is_made_of(x, "v", "next") &&
              !is_made_of(x, "y", "next");
     },
     "leaves out {y} at an end, not {v}; did you mean 1 - {d} as a factor of the latter?"},
    {{"c + g * (u - c)"},
     is_guided_away,
     "steers away from {c}; did you mean {u} + {g} * ({c} - {u})?"},
    {{"s:dot(x, u) * a:smooth(dot(x, v))"},
     [](const place &x) {
       const std::string &u = x.p[x["u"]].name, &v = x.p[x["v"]].name;
       return has_word(u, {"gate"}) && has_word(v, {"up"});
     },
     "activates the product with {v}, not the gate; did you mean the activation of {s}?"},
    {{"dot(x, w) + b"},
     is_of_other_matrix,
     "adds {b} to a product with {w}; did you exchange two biases?"},
    {{"s:dot(x, y) * l"},
     [](const place &x) {
       const std::string &name = x.p[x["l"]].name;
       return x.p[x["l"]].kind == op::param &&
              (name.starts_with("log_scale") || name.starts_with("log_temp") || name == "log_tau");
     },
     "multiplies by a logarithm; did you mean exp({l})?"},
    {{"min(u / v, 1)"},
     are_draft_and_target,
     "divides the draft by the target; did you mean {v} / {u}?"},
    {{"max(u - v, 0)"},
     [](const place &x) {  // and is drawn from, not only added up
       const auto adds = [&](node_id user) { return x.p[user].kind == op::sum; };
       const auto divides = [&](node_id user) { return x.p[user].kind == op::div; };
       return are_draft_and_target(x) && (!x.is_used(x.at, adds) || x.is_used(x.at, divides));
     },
     "is what the draft has beyond the target; did you mean {v} - {u}?"},
    {{"k * s - z"},
     [](const place &x) {
       const node &z = x.p[inner_of(x.p, x["z"])];
       return z.kind == op::input && z.type == i32 && has_word(z.name, {"zero"});
     },
     "takes {z} off after the scale; did you mean ({k} - {z}) * {s}?"},
};

}  // namespace

std::span<const formula_rule> formulas_of_names() { return named_rules; }

}  // namespace qkv::codegen
