// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention.hpp"

#include <memory>

#include "codegen/halide/lower/attention_kept_sums.hpp"
#include "codegen/halide/lower/attention_pairs.hpp"
#include "codegen/halide/lower/attention_placed.hpp"
#include "codegen/halide/lower/attention_results.hpp"
#include "codegen/halide/lower/attention_sums.hpp"

namespace qkv::codegen {

std::vector<attention_funcs> lower_attention(context &c, const attention_stage &s,
                                             const std::vector<attention_tile> &tiles) {
  std::vector<attention_funcs> funcs(tiles.size());
  std::vector<std::unique_ptr<attention_form>> forms;
  std::vector<attention_form *> all;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    forms.push_back(std::make_unique<attention_form>(c, s, tiles[k], funcs[k]));
    all.push_back(forms.back().get());
    lower_pairs(*all[k]);
    lower_sums(*all[k]);
    lower_placed(*all[k]);
    s.keeps_sums() ? lower_kept_sums(*all[k]) : lower_state(*all[k]);
  }
  if (!s.keeps_sums()) lower_results(all);
  return funcs;
}

}  // namespace qkv::codegen
