// SPDX-License-Identifier: BSL-1.0
#pragma once
// A spec as data: the steps that a person would have written. It is drawn, shrunk and printed;
// `program_of` tells whether the language accepts it.
#include <string>
#include <vector>

#include <qkv/core/dtype.hpp>
#include <qkv/core/op.hpp>

namespace qkv::fuzz {

using namespace core;

struct axis_of {
  std::string name;
  long size = -1;  // -1: decided at the call
  bool batch = false;
  int alias_of = -1;  // the axis whose size this one shares, or -1
};

// Words of the language that are not steps of a graph, or whose rule takes more than op holds.
enum class word : unsigned char {
  step,    // the operation `kind`; an input or a param wherever it is first needed
  root,    // sqrt(axis)
  filled,  // filled<type, axes..>(number); zeros<type, axes..>() where that is 0
  plain,   // plain(x)
  slice,   // slice<from, to>(x, first)
  rows,    // mask_rows(x, keep)
  causal,  // causal<query, key, align>; number: 0 not given, 1 first, 2 last
  joined,  // concat<whole, a, b>(x, y): all axes named
  let,     // let<"name">(x)
};

// Makes one value, to which later steps refer by its index in the recipe.
struct step {
  word what = word::step;
  op kind = op::number;
  std::vector<int> in;    // values
  std::vector<int> over;  // axes: those of an argument, else as in a graph
  dtype type = f32;       // of arguments, casts and zeros; of a number: i32 or f32
  double number = 0;
  std::string name;  // of an argument or a let
};

struct result {
  std::string name;
  dtype type = f32;
  std::vector<int> axes;
  int value = -1;
};

struct recipe {
  std::string name;
  std::vector<axis_of> axes;
  std::vector<step> steps;
  std::vector<result> results;

  const step &operator[](int value) const { return steps[static_cast<std::size_t>(value)]; }
};

}  // namespace qkv::fuzz
