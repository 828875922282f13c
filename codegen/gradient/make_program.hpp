// SPDX-License-Identifier: BSL-1.0
#pragma once
// Programs of kernels that are derived from others, beside make_program of those that are written.
#include <qkv/core/gradient.hpp>

#include "codegen/gradient/gradient.hpp"
#include "codegen/gradient/saving.hpp"
#include "codegen/program/from_graph.hpp"

namespace qkv::codegen {

// Throws std::runtime_error where a step has no gradient.
template <bool HasResults, class Kernel, str... Wanted>
program make_program(const gradient_t<HasResults, Kernel, Wanted...> &) {
  return gradient(make_program(Kernel()), {std::string(Wanted.view())...}, HasResults);
}

// The kernel of a gradient, which saves steps for it, and the gradient that reads them.
template <class Kernel, str... Wanted>
with_saved make_saving(const gradient_t<false, Kernel, Wanted...> &) {
  return saving(make_program(Kernel()), {std::string(Wanted.view())...});
}

}  // namespace qkv::codegen
