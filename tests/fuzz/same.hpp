#pragma once
// Whether two programs mean the same: their interpretations in double precision, but for what another order of the same
// sums may change.
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::fuzz {

// The original, interpreted once; what others are compared with.
class meaning {
 public:
  meaning(const codegen::program &, const codegen::arrays &arguments, const codegen::size_map &);

  // Empty when `other` gives these results, else one line: which element differs, and by how much.
  std::string differs(const codegen::arrays &other) const;
  const codegen::arrays &arguments() const { return arguments_; }
  const codegen::size_map &sizes() const { return sizes_; }

 private:
  bool is_stable(const std::string &output, std::size_t k, double off) const;

  const codegen::program &p_;
  codegen::arrays arguments_;
  codegen::size_map sizes_;
  codegen::arrays exact_, sequence_, eights_;
};

// The arguments with every float moved by a share of at most `by`.
codegen::arrays jittered(const codegen::program &, const codegen::arrays &, double by,
                         std::uint64_t seed);

}  // namespace qkv::fuzz
