// SPDX-License-Identifier: BSL-1.0
#pragma once
// For the tool of a generated library: sheet, reference and comparison of each kernel.
//   return qkv::tool::main(argc, argv, qkv::oracles_of(qkv_specs_my()));
#include "codegen/sheets/oracle.hpp"

namespace qkv {

using codegen::oracles_of;

}  // namespace qkv
