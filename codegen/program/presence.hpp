// SPDX-License-Identifier: BSL-1.0
#pragma once
// Where the elements of a step are present, as a step of b8. An element that mask() removed is
// absent, which is not 0: reductions and products leave it out, and it makes results of pointwise
// steps absent. The adjoint of an absent element does not exist; an absent element of an adjoint
// counts as 0.
#include <map>

#include "codegen/program/formulas.hpp"

namespace qkv::codegen {

inline constexpr node_id everywhere = no_node;

class presence {
 public:
  explicit presence(formulas &f) : f_(f) {}

  // A step of b8 that may lack axes and is itself present everywhere, or `everywhere`.
  node_id of(node_id);
  // 0 in place of absent elements.
  node_id filled(node_id);
  // Absent outside of `where`, which may be `everywhere`.
  node_id limited(node_id, node_id where);
  // The sum, absent where both are; an absent element counts as 0.
  node_id sum(node_id a, node_id b);

 private:
  node_id found(node_id);
  bool are_same(node_id a, node_id b) const;  // but for repeating the elements
  node_id both(node_id a, node_id b);
  node_id of_choice(const node &);
  node_id of_view(const node &);
  node_id of_gather(const node &);

  formulas &f_;
  std::map<node_id, node_id> known_;
};

}  // namespace qkv::codegen
