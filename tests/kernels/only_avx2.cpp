// Linked into a test, makes fat libraries believe that this machine has no AVX-512: the same trials on the other variant.
#include <HalideRuntime.h>

namespace {

int can_use(int count, const uint64_t *features) {
  constexpr int avx512 = halide_target_feature_avx512_skylake;
  if ((features[avx512 / 64] >> (avx512 % 64)) & 1) return 0;
  return halide_default_can_use_target_features(count, features);
}

const auto installed = halide_set_custom_can_use_target_features(can_use);

}  // namespace
