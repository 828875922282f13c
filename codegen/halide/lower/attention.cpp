// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention.hpp"

#include <memory>

#include "codegen/halide/lower/attention_kept_sums.hpp"
#include "codegen/halide/lower/attention_pairs.hpp"
#include "codegen/halide/lower/attention_placed.hpp"
#include "codegen/halide/lower/attention_results.hpp"
#include "codegen/halide/lower/attention_sums.hpp"

namespace qkv::codegen {

namespace {

std::string name_of_result(const program &p, const attention_stage &s) {
  const bool is_only_result = s.sums.size() == 1 && s.lse == no_step;
  return is_only_result ? context::label(p, s.sums[0].root)
                        : "results_" + context::label(p, s.sums[0].core);
}

void place_in_loops(context &c, const attention_stage &s, const attention_tile &t,
                    attention_funcs &f) {
  f.in_loops = true;
  c.bound_results();
  for (axis_id a : s.outer) f.of_task[a] = c.late.loop(f.result.out.name(), 0, c.var(a).name());
  const std::string state = f.running.state.name();
  f.v.block = t.one_block ? Halide::Expr(0) : c.late.loop(state, 1, merged_block);
  if (t.is_only_tile()) f.v.tile = 0;
}

}  // namespace

std::vector<attention_funcs> lower_attention(context &c, const attention_stage &s,
                                             const std::vector<attention_tile> &tiles) {
  std::vector<attention_funcs> funcs(tiles.size());
  std::vector<std::unique_ptr<attention_form>> forms;
  std::vector<attention_form *> all;
  const Halide::Func out = s.keeps_sums() ? Halide::Func() : Halide::Func(name_of_result(c.p, s));
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    funcs[k].running.state = Halide::Func("state_" + context::label(c.p, s.sums[0].core));
    if (!s.keeps_sums()) funcs[k].result.out = out;
    if (!s.keeps_sums() && !tiles[k].dealt_to_threads()) place_in_loops(c, s, tiles[k], funcs[k]);
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
