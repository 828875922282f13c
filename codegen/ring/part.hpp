// SPDX-License-Identifier: BSL-1.0
#pragma once
// One of the kernels that a kernel is divided into: copies of steps, where positions and sizes are
// those of all machines together.
#include <map>
#include <string>

#include "codegen/program/formulas.hpp"
#include "codegen/ring/token_places.hpp"

namespace qkv::codegen {

class part {
 public:
  // `whole`: the kernel that is divided; `of_pairs`: along independent axes, too.
  part(const program &whole, const token_places &, std::string name, bool of_pairs);

  formulas f;

  // An argument with the type and the axes of a step; the same one for the same name.
  node_id argument(node_id like, const std::string &name);
  node_id argument(const node &like, const std::string &name);
  // A copy of the step, whose operands are those of this part.
  node_id copy(node x, const std::vector<node_id> &operands);
  // Arguments that say where its queries, its keys and its part of independent axes begin, used or
  // not.
  void add_positions();
  // Its results in place.
  program take();

 private:
  void cut_off(std::vector<axis> &) const;
  // True if positions along the axis are some of all.
  bool is_divided(axis_id) const;
  node_id position(const char *what, axis_id);
  node_id first(axis_id);

  const program &whole_;
  const token_places &r_;
  const bool of_pairs_;  // of some queries and keys of other machines
  std::map<std::string, node_id> arguments_;
};

}  // namespace qkv::codegen
