// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/prefetch.hpp"

#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

// The call needs LLVM's declaration, which Halide's runtime contains.
hi::Stmt prefetch(const std::string &argument, Halide::Type type, const Expr &at) {
  constexpr int for_reading = 0, in_all_caches = 3, of_data = 1;
  const Expr begin = hi::Variable::make(Halide::Handle(), argument);
  const Expr bytes = Halide::cast<int64_t>(at) * type.element_of().bytes();
  const Expr address = hi::Reinterpret::make(Halide::Handle(),
                                             hi::Reinterpret::make(Halide::Int(64), begin) + bytes);
  return hi::Evaluate::make(hi::Call::make(Halide::Int(32), "llvm.prefetch.p0",
                                           {address, for_reading, in_all_caches, of_data},
                                           hi::Call::Extern));
}

bool is_left_alone(const hi::For &loop) {
  return loop.name.find(no_prefetch_name) != std::string::npos;
}

}  // namespace qkv::codegen
