// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/processor_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/machines/halide_target.hpp"

namespace qkv::codegen {
namespace {

using Halide::Target;

// The features that a processor must have, as Halide numbers them, 64 in a word.
std::vector<std::uint64_t> features_of(const machine &m) {
  Target needed = halide_target(m);
  for (const Target::Feature f : {Target::NoRuntime, Target::UserContext, Target::NoBoundsQuery})
    needed.set_feature(f, false);
  // Halide uses what a feature implies, whether the target names it or not.
  const std::pair<Target::Feature, std::vector<Target::Feature>> implied[] = {
      {Target::AVX512_SapphireRapids, {Target::AVX512_Zen4}},
      {Target::AVX512_Zen5, {Target::AVX512_Zen4}},
      {Target::AVX512_Zen4, {Target::AVX512_Cannonlake}},
      {Target::AVX512_Cannonlake, {Target::AVX512_Skylake}},
      {Target::AVX512_Skylake, {Target::AVX512}},
      {Target::AVX512, {Target::AVX2}},
      {Target::AVX2, {Target::AVX, Target::F16C, Target::FMA}},
      {Target::AVX, {Target::SSE41}}};
  for (const auto &[feature, others] : implied)
    if (needed.has_feature(feature)) needed.set_features(others);
  std::vector<std::uint64_t> words((Target::FeatureEnd + 63) / 64);
  for (int f = 0; f < Target::FeatureEnd; ++f)
    if (needed.has_feature(static_cast<Target::Feature>(f)))
      words[static_cast<std::size_t>(f / 64)] |= std::uint64_t{1} << (f % 64);
  return words;
}

// Bits of a register (0 to 3: eax, ebx, ecx, edx) after cpuid.
struct processor_bits {
  unsigned leaf, part;
  int place;
  std::uint32_t bits;
};

// Halide's runtime does not know these features, and takes processors without them; but Halide lets
// LLVM use all instructions of a Zen 4, a Zen 5 or a Sapphire Rapids.
std::vector<processor_bits> unknown_to_halide(const machine &m) {
  const Target needed = halide_target(m);
  const bool intel = needed.has_feature(Target::AVX512_SapphireRapids),
             zen5 = needed.has_feature(Target::AVX512_Zen5);
  if (!intel && !zen5 && !needed.has_feature(Target::AVX512_Zen4)) return {};
  constexpr std::uint32_t ifma = 1u << 21, vbmi = 1u << 1, vbmi2 = 1u << 6, gfni = 1u << 8,
                          vaes = 1u << 9, vpclmulqdq = 1u << 10, vnni = 1u << 11, bitalg = 1u << 12,
                          vpopcntdq = 1u << 14, movdiri = 1u << 27, movdir64b = 1u << 28,
                          fp16 = 1u << 23, vp2intersect = 1u << 8, avx_vnni = 1u << 4,
                          bf16 = 1u << 5, sse4a = 1u << 6;
  std::vector<processor_bits> all = {
      {7, 0, 1, ifma},
      {7, 0, 2, vbmi | vbmi2 | gfni | vaes | vpclmulqdq | vnni | bitalg | vpopcntdq},
      {7, 1, 0, intel || zen5 ? bf16 | avx_vnni : bf16}};
  all.push_back(intel ? processor_bits{7, 0, 3, fp16} : processor_bits{0x80000001, 0, 2, sse4a});
  constexpr std::uint32_t amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  if (m.of_bf16.has_matrix_unit()) all.push_back({7, 0, 3, amx_bf16 | amx_tile});
  if (zen5) all.push_back({7, 0, 2, movdiri | movdir64b});
  if (zen5) all.push_back({7, 0, 3, vp2intersect});
  return all;
}

std::string check(const machine &m) {
  if (name_of_processor_check(m) == "0") return "";
  std::vector<std::string> words;
  for (const std::uint64_t w : features_of(m)) words.push_back(fmt::format("UINT64_C({:#x})", w));
  std::string more;
  for (const processor_bits &b : unknown_to_halide(m))
    more += fmt::format(" &&\n         has_bits({:#x}, {}, {}, {:#x})", b.leaf, b.part, b.place,
                        b.bits);
  if (m.of_bf16.has_matrix_unit()) more += " &&\n         grants_tiles()";
  return fmt::format(
      "static int {}(void) {{\n"
      "  static const uint64_t features[] = {{{}}};\n"
      "  return halide_can_use_target_features({}, features){};\n}}\n",
      name_of_processor_check(m), fmt::join(words, ", "), words.size(), more);
}

}  // namespace

std::string name_of_processor_check(const machine &m) {
  const std::vector<std::uint64_t> words = features_of(m);
  if (std::all_of(words.begin(), words.end(), [](std::uint64_t w) { return w == 0; })) return "0";
  return "can_run_" + m.c_name();
}

std::string processor_checks(const std::vector<machine> &all) {
  std::string text =
      "extern int halide_can_use_target_features(int count, const uint64_t *features);\n";
  const auto reads_bits = [](const machine &m) { return !unknown_to_halide(m).empty(); };
  if (std::any_of(all.begin(), all.end(), reads_bits))
    text +=
        "#include <cpuid.h>\n"
        "static int has_bits(unsigned leaf, unsigned part, int place, unsigned bits) {\n"
        "  unsigned r[4];\n"
        "  return __get_cpuid_count(leaf, part, r, r + 1, r + 2, r + 3) &&\n"
        "         (r[place] & bits) == bits;\n}\n";
  const auto has_tiles = [](const machine &m) { return m.of_bf16.has_matrix_unit(); };
  if (std::any_of(all.begin(), all.end(), has_tiles))
    text +=
        "/* Linux grants registers of matrix tiles (component 18) on request. */\n"
        "extern long syscall(long number, ...);\n"
        "static int grants_tiles(void) {\n"
        "  enum { unknown, refused, granted, arch_prctl = 158, request_permission = 0x1023 };\n"
        "  static int state = unknown;\n"
        "  int now = __atomic_load_n(&state, __ATOMIC_RELAXED);\n"
        "  if (now == unknown) {\n"
        "    now = syscall(arch_prctl, request_permission, 18L) == 0 ? granted : refused;\n"
        "    __atomic_store_n(&state, now, __ATOMIC_RELAXED);\n  }\n"
        "  return now == granted;\n}\n";
  for (const machine &m : all) text += check(m);
  return text;
}

}  // namespace qkv::codegen
