// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/modules.hpp"

namespace qkv::codegen {

Halide::Module rewritten(const Halide::Module &m, Halide::Internal::IRMutator &code,
                         const Halide::Buffer<> &data) {
  Halide::Module result(m.name(), m.target(), m.get_metadata_name_map());
  for (const Halide::Buffer<> &b : m.buffers())
    result.append(data.defined() && b.name() == data.name() ? data : b);
  for (Halide::Internal::LoweredFunc f : m.functions()) {
    f.body = code.mutate(f.body);
    result.append(f);
  }
  result.set_any_strict_float(m.any_strict_float());
  if (m.get_conceptual_stmt().defined()) result.set_conceptual_code_stmt(m.get_conceptual_stmt());
  return result;
}

}  // namespace qkv::codegen
