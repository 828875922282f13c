#pragma once
// Tests whether two programs mean the same: their interpretations in double precision agree, up to
// the effect of another order of the same sums.
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::fuzz {

// The original program, interpreted once, with which others are compared.
class meaning {
 public:
  meaning(const codegen::program &, const codegen::arrays &arguments, const codegen::size_map &);

  // Empty if `other` holds these results, else one line: the element, its value and the expected
  // one.
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

}  // namespace qkv::fuzz
