#include "codegen/halide/lower/attention.hpp"

#include "codegen/halide/lower/attention_pairs.hpp"
#include "codegen/halide/lower/attention_results.hpp"
#include "codegen/halide/lower/attention_sums.hpp"

namespace qkv::codegen {

attention_funcs lower_attention(context &c, const attention_stage &s, const attention_tile &tile) {
  attention_funcs f;
  attention_setting setting(c, s, tile, f);
  lower_pairs(setting);
  lower_sums(setting);
  lower_state(setting);
  lower_results(setting);
  return f;
}

}  // namespace qkv::codegen
