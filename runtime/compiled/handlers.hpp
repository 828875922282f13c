// SPDX-License-Identifier: BSL-1.0
#pragma once
// Errors, memory and threads of compiled code go to the context of the call: nothing prints,
// nothing aborts; private to the runtime.
#include "compiled/halide.hpp"

namespace qkv::detail {

struct handler_set {
  handler<halide_error_handler_t> error;
  handler<halide_malloc_t> malloc;
  handler<halide_free_t> free;
  handler<halide_do_par_for_t> par_for;

  void install();
  void give_back();
};
extern handler_set handlers;

}  // namespace qkv::detail
