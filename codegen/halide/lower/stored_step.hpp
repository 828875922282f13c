// SPDX-License-Identifier: BSL-1.0
#pragma once
// The step that ends a stage: what the stage computed, and the pointwise steps after it.
#include <functional>
#include <map>

#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

// Defines the Func as `root`, where `core` has this value, stores and returns it. `vars` are the
// positions along the axes; `form` is applied to what is stored.
Halide::Func stored_step(context &, Halide::Func, node_id root, node_id core,
                         const Halide::Expr &value, const std::map<axis_id, Halide::Var> &vars,
                         const std::function<Halide::Expr(const Halide::Expr &)> &form);

}  // namespace qkv::codegen
