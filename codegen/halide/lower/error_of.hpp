// SPDX-License-Identifier: BSL-1.0
#pragma once
// The error of a check that Halide has made.
#include <Halide.h>

namespace qkv::codegen {

// The call that reports it (halide_error_..); null where the check has none.
inline const Halide::Internal::Call *error_of(const Halide::Internal::AssertStmt &check) {
  Halide::Expr message = check.message;
  while (const auto *let = message.as<Halide::Internal::Let>()) message = let->body;
  return message.as<Halide::Internal::Call>();
}

}  // namespace qkv::codegen
