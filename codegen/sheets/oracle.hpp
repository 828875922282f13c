#pragma once
// What the tool of a generated library knows of a kernel beyond its compiled code: sheet, reference, cost, comparison.
#include <qkv/tool.hpp>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

tool::entry oracle(program);

}  // namespace qkv::codegen
