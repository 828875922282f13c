#include "codegen/schedules/tuning.hpp"

namespace qkv::codegen {

registers registers_of(const Halide::Target &t) {
  if (t.has_feature(Halide::Target::AVX512_Skylake)) return {16, 24};
  return {8, 12};
}

attention_tile attention_tile_for(const Halide::Target &t, std::int64_t rows, std::int64_t) {
  attention_tile tile;
  if (rows >= 0 && rows <= 16) tile = {registers_of(t).lanes, 128, 1};
  return tile;
}

}  // namespace qkv::codegen
