#include "codegen/halide/schedules/tuning.hpp"

namespace qkv::codegen {

registers registers_of(const Halide::Target &t, int bits) {
  if (t.has_feature(Halide::Target::AVX512_Skylake)) return {512 / bits, 24};
  return {256 / bits, 12};
}

attention_tile attention_tile_for(const Halide::Target &t, std::int64_t rows,
                                  std::int64_t columns) {
  attention_tile tile;
  if (rows >= 0 && rows <= 16) tile = {registers_of(t).lanes, 128, 1};
  // rows a power of two apart share few sets of the first cache: half a block of V would not fit
  if (columns > 0 && columns % 128 == 0) tile.value_row = static_cast<int>(columns) + 16;
  return tile;
}

}  // namespace qkv::codegen
