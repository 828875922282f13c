#pragma once
// Facts about a kernel for the tool of a generated library, beyond the compiled code: sheet,
// reference, cost, comparison.
#include <qkv/tool.hpp>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

tool::entry oracle(program);

}  // namespace qkv::codegen
