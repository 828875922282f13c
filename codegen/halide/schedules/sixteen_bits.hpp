// SPDX-License-Identifier: BSL-1.0
#pragma once
// 16-bit numbers in the code of devices and processors that have none.
#include <Halide.h>

namespace qkv::codegen {

// Reads and writes 16-bit numbers as integers with their bits, and converts by arithmetic with
// integers. bf16 is replaced always, because LLVM 19 aborts on it for CUDA; f16 where the target
// lacks it: OpenCL C has it as an extension, which PoCL and many drivers lack; so do x86 processors
// before AVX2, where Halide's own conversion makes infinities of some NaN.
//
//   float32(X[i])           -> number_of(uint16 X[i])
//   Y[i] = bfloat16(number) -> uint16 Y[i] = bits_of(number)
//
// Throws std::logic_error for operations on 16-bit numbers: `widen` leaves conversions alone.
class sixteen_bits : public Halide::Internal::IRMutator {
  using Expr = Halide::Expr;
  using Stmt = Halide::Internal::Stmt;

 public:
  explicit sixteen_bits(bool lacks_f16) : lacks_f16_(lacks_f16) {}
  Expr mutate(const Expr &) override;
  Stmt mutate(const Stmt &s) override { return IRMutator::mutate(s); }

 private:
  using IRMutator::visit;
  Expr visit(const Halide::Internal::FloatImm *op) override;
  Expr visit(const Halide::Internal::Variable *op) override;
  Expr visit(const Halide::Internal::Load *op) override;
  Expr visit(const Halide::Internal::Cast *op) override;
  Expr visit(const Halide::Internal::Reinterpret *op) override;
  Expr visit(const Halide::Internal::Call *op) override;
  Stmt visit(const Halide::Internal::Allocate *op) override;

  bool replaces(const Halide::Type &) const;

  bool lacks_f16_;
};

// True for x86 processors without conversions from and to f16.
inline bool lacks_f16(const Halide::Target &t) {
  using Halide::Target;
  return t.arch == Target::X86 &&
         !t.features_any_of({Target::F16C, Target::AVX2, Target::AVX512, Target::AVX512_Skylake,
                             Target::AVX512_Cannonlake, Target::AVX512_Zen4, Target::AVX512_Zen5,
                             Target::AVX512_SapphireRapids, Target::AVX10_1});
}

}  // namespace qkv::codegen
