#pragma once
// What compiled code can hold: positions and bytes of whatever it stores are numbers of 31 bits.
#include "codegen/lower/context.hpp"

namespace qkv::codegen {

// Calls in which something would be larger fail before they compute anything, with a text that the runtime gives as the
// status too_large: "scores[kv, seq] needs more than 2147483647 bytes". Where sizes are known now, the build fails.
class limits {
 public:
  explicit limits(const context &c) : c_(c) {}
  // Memory for a step, over these axes.
  void stored(node_id, const std::vector<axis_id> &);
  // Memory that holds blocks over these axes, each of them for all of `around`.
  void stored(const std::string &what, dtype, const std::vector<std::vector<axis_id>> &blocks,
              const std::vector<axis_id> &around);
  void add_to(Halide::Pipeline &) const;

 private:
  struct limit {
    Halide::Expr fits;
    std::string text;
  };
  const context &c_;
  std::vector<limit> all_;
};

}  // namespace qkv::codegen
