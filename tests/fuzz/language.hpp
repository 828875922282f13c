// SPDX-License-Identifier: BSL-1.0
#pragma once
// The language at run time: the rules of dsl/qkv/ops, applied to values instead of types. Accepts
// exactly the steps that compile.
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <qkv/dsl.hpp>

#include "codegen/program/program.hpp"
#include "tests/fuzz/recipe.hpp"

namespace qkv::fuzz {

// An operand as the language sees it; x tells which of id, nodes and number it has.
struct value {
  detail::info x;
  int id = -1;              // of a step of the kernel: its node
  std::vector<node> nodes;  // of an expression of positions
  double number = 0;        // of a number
  int state = -1;           // the state (a value) of the scan whose step this belongs to, or -1
};

// Builds a recipe, and the graph that a compiler would trace of it, one step at a time.
class language {
 public:
  explicit language(std::string name);
  language(const language &) = delete;
  language &operator=(const language &) = delete;

  int add_axis(axis_of);
  // Returns the new value, or -1 if the language refuses the step; why() then gives the reason.
  int add(step);
  bool add(result);
  // The kernel, or nothing if its declaration is refused. Throws what the generator would throw.
  std::optional<codegen::program> program();

  const std::string &why() const { return why_; }
  const recipe &written() const { return r_; }
  int size() const { return static_cast<int>(values_.size()); }
  const value &operator[](int v) const { return values_[static_cast<std::size_t>(v)]; }
  const axis_data *axis(int a) const { return &axes_[static_cast<std::size_t>(a)]; }
  int axis_called(sv name) const;
  std::vector<int> axes_of(int v) const;  // of a value

 private:
  using operands = std::vector<const value *>;

  bool is_word(const step &) const;
  std::optional<value> made(const step &, const operands &);
  std::optional<value> word_of(const step &, const operands &);
  std::optional<value> operation(const step &, const operands &);
  std::optional<value> function(op, const value &);
  std::optional<value> pointwise(op, const operands &);
  std::optional<value> reduction(op, const axes &, const operands &);
  std::optional<value> part_of_scan(const step &, const operands &);
  std::optional<value> argument_of(const step &);
  std::optional<value> causal(const step &);
  template <class Rule, class... V>
  std::optional<value> apply(const Rule &, const V &...);
  std::string label_for(const step &, const operands &) const;
  value from_axis(op, const axis_data *) const;
  int lift(const value &, dtype number);
  std::optional<value> refuse(sv why);
  bool passes(const detail::text &why);
  axes set_of(const std::vector<int> &) const;

  recipe r_;
  std::deque<std::string> names_;
  std::deque<axis_data> axes_;
  std::vector<argument> arguments_, outputs_;
  graph g_;
  std::deque<value> values_;
  std::string why_;
};

// The kernel of a recipe, or nothing; `why` is then the text of the refusal. Throws other errors:
// mistakes of the generator.
std::optional<codegen::program> program_of(const recipe &, std::string *why = nullptr);

}  // namespace qkv::fuzz
