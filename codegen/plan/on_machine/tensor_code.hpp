// SPDX-License-Identifier: BSL-1.0
#pragma once
// The stages that tensor cores of a machine compute: the form of each, and its tiles.
#include <variant>
#include <vector>

#include "codegen/machines/machine.hpp"
#include "codegen/plan/contraction_form.hpp"
#include "codegen/plan/pair_sums_form.hpp"
#include "codegen/plan/tensor_form.hpp"

namespace qkv::codegen {

struct attention_code {
  tensor_form form;
  std::vector<tensor_tile> tiles;
  int split_keys = 0;  // fewer keys are not worth a block
};

struct pair_sums_code {
  pair_sums_form form;
  std::vector<tensor_tile> tiles;
};

struct contraction_code {
  contraction_form form;
  std::vector<contraction_tile> tiles;
};

// std::monostate: tensor cores do not compute the stage.
using tensor_code = std::variant<std::monostate, attention_code, pair_sums_code, contraction_code>;

tensor_code tensor_code_for(const plan &, const machine &, const stage &);

}  // namespace qkv::codegen
