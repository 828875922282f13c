// SPDX-License-Identifier: BSL-1.0
#pragma once
// Patterns of formulas, and the places of a program that look like them.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// The steps, numbers and axes that variables of a pattern stand for at one place.
struct pattern_match {
  std::map<std::string, node_id> steps;
  std::map<std::string, double> numbers;
  std::map<std::string, std::vector<axis_id>> axes;

  node_id operator[](const std::string &variable) const { return steps.at(variable); }
};

// A formula with variables, such as "sum<a>(p * (log(q) - log(p)))":
//   x           any step, the same wherever x stands; through views, conversions and scans
//   e:log(x)    a step of this form, which is e in the message
//   sum<a>(x)   an operation by its name, over any axes, the same wherever a stands
//   index<a>()  one with whatever operands
//   2, #n       a number; any number
//   + - * /     as in C++; operands of + and * stand in either order
// Steps that let() names are never looked into. A small number that is added, as in x + 1e-6, does
// not change what a formula looks like.
class formula_pattern {
 public:
  // Throws std::invalid_argument with the place that is not a formula.
  explicit formula_pattern(sv text);

  // Tries every way in which step n looks like this until `accept` returns true; false if none
  // does.
  bool find(const program &, node_id n,
            const std::function<bool(const pattern_match &)> &accept) const;

 private:
  friend class pattern_parser;
  friend class pattern_search;
  struct term {
    enum { variable, number, any_number, operation } what = variable;
    std::string name;  // of the variable, or under which the step is known
    double value = 0;
    std::vector<op> kinds;  // one of these
    std::string over;       // variable of its axes; empty: whatever they are
    std::vector<term> in;
    bool has_any_operands = false;
  };
  term term_;
};

}  // namespace qkv::codegen
