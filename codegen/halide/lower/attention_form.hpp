// SPDX-License-Identifier: BSL-1.0
#pragma once
// One form of an attention: its setting, and the parts that several files of its lowering use.
#include "codegen/halide/lower/block_keys.hpp"
#include "codegen/halide/lower/hidden_pairs.hpp"
#include "codegen/halide/lower/score_levels.hpp"

namespace qkv::codegen {

struct attention_form : attention_setting {
  attention_form(context &all, const attention_stage &stage, const attention_tile &tile,
                 attention_funcs &funcs)
      : attention_setting(all, stage, tile, funcs),
        hidden(*this),
        levels(*this, hidden),
        block(*this) {}

  hidden_pairs hidden;
  score_levels levels;
  block_keys block;
};

}  // namespace qkv::codegen
