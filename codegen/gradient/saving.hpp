// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kernel and its gradient that share steps: the first keeps what the second would compute again.
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Kept are contractions, reductions and scans of the forward that the backward reads, but for those
// that exist for each query and key, which it recomputes (again.hpp): logsumexps, results,
// projected queries and keys.
struct with_saved {
  program forward;  // <name>_saving: the arguments and results of the kernel, then kept0, kept1, ..
  program
      backward;  // <name>_gradient_saved: the arguments of the gradient, then kept0, ..; results:
                 // those of the gradient
};

// Arguments and errors are those of gradient().
with_saved saving(const program &p, const std::vector<std::string> &wanted = {});

}  // namespace qkv::codegen
