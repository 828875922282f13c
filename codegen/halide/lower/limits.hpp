// SPDX-License-Identifier: BSL-1.0
#pragma once
// Limits of compiled code: sums of positions, byte counts of stored tensors and iterations of a
// loop are 31-bit numbers.
#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

// Calls that need more fail before they compute anything. The runtime reports the text as the
// status too_large: "scores[kv, seq] needs more than 2147483647 bytes". If the sizes are known at
// build time, the build fails.
class limits {
 public:
  explicit limits(const context &c) : c_(c) {}
  // Memory of a step over these axes.
  void stored(node_id, const std::vector<axis_id> &);
  // Memory that holds blocks over these axes, each repeated along all of `around`.
  void stored(const std::string &what, dtype, const std::vector<std::vector<axis_id>> &blocks,
              const std::vector<axis_id> &around);
  // Iterations of one loop over these axes.
  void counted(const std::string &what, const std::vector<axis_id> &axes);
  // Sums of positions and sizes.
  void computed();
  void add_to(Halide::Pipeline &) const;

 private:
  struct limit {
    Halide::Expr fits;
    std::string text;
  };
  // At most 2^31 - 1 elements of `each` units over all blocks.
  void require(std::int64_t each, const std::vector<std::vector<axis_id>> &blocks,
               const std::vector<axis_id> &around, const std::string &text);

  const context &c_;
  std::vector<limit> all_;
};

}  // namespace qkv::codegen
