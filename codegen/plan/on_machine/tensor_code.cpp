// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/on_machine/tensor_code.hpp"

#include <algorithm>

namespace qkv::codegen {
namespace {

class chooser {
 public:
  chooser(const plan &made, const machine &m) : made_(made), m_(m) {}

  tensor_code of(const attention_stage &s) const {
    return s.is_normalised() ? attention(s) : pair_sums(s);
  }

  tensor_code of(const contraction_stage &s) const {
    const auto form = contraction_form_of(made_, s);
    if (!form) return {};
    const std::int64_t folded = form->folded == no_axis ? 1 : size(form->folded),
                       rows = size(s.row) < 0 || folded < 0 ? -1 : size(s.row) * folded;
    return or_none(contraction_code{
        *form,
        m_.contraction_tiles_for(rows, size(s.column), form->element != f32, form->is_precise)});
  }

  tensor_code of(const map_stage &) const { return {}; }
  tensor_code of(const scan_stage &) const { return {}; }

 private:
  tensor_code attention(const attention_stage &s) const {
    const auto form = tensor_form_of(made_, s);
    if (!form) return {};
    std::vector<tensor_tile> tiles =
        m_.tensor_tiles_for(form->product.features, form->columns, form->element != f32);
    // wgmma has registers for two parts of each weight.
    if (form->weight_parts > 2) drop_wgmma(tiles);
    return or_none(attention_code{*form, tiles, m_.gpu.split_keys});
  }

  tensor_code pair_sums(const attention_stage &s) const {
    const auto form = pair_sums_form_of(made_, s);
    if (!form) return {};
    int widest = 0;
    for (const auto &x : form->products) widest = std::max(widest, x.of.features);
    for (const auto &k : form->keys) widest = std::max(widest, k.columns);
    std::vector<tensor_tile> tiles = m_.pair_sums_tiles_for(widest, form->element != f32);
    // wgmma has sums of 16 bits alone, whose pairs are bf16: those of f16 need units
    // (pair_sums.cuh).
    const bool has_parts = std::any_of(form->sums.begin(), form->sums.end(),
                                       [](const auto &sum) { return sum.pair_parts > 1; });
    if (form->element != bf16 || has_parts) drop_wgmma(tiles);
    return or_none(pair_sums_code{*form, tiles});
  }

  static void drop_wgmma(std::vector<tensor_tile> &tiles) {
    std::erase_if(tiles, [](const tensor_tile &t) { return t.skeleton == "wgmma"; });
  }

  template <class Code>
  static tensor_code or_none(Code code) {
    if (code.tiles.empty()) return {};
    return code;
  }

  // Negative where the call decides.
  std::int64_t size(axis_id a) const { return static_size(made_.p, a); }

  const plan &made_;
  const machine &m_;
};

}  // namespace

tensor_code tensor_code_for(const plan &made, const machine &m, const stage &s) {
  const chooser choose(made, m);
  return std::visit([&](const auto &one) { return choose.of(one); }, s);
}

}  // namespace qkv::codegen
