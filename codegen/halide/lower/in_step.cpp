// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/in_step.hpp"

#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

// A bound that is the meet of several, without those that read memory. Undefined when none is left.
template <class Meet>
Expr without_loads(const Expr &e) {
  if (!e.defined() || !reads_memory(e)) return e;
  const Meet *m = e.as<Meet>();
  if (!m) return {};
  const Expr a = without_loads<Meet>(m->a), b = without_loads<Meet>(m->b);
  return !a.defined() ? b : !b.defined() ? a : Meet::make(a, b);
}

Expr opaque_if_any(const Expr &e) { return e.defined() ? opaque(e) : e; }

// Always false, which Halide cannot prove: the factor's inverse modulo 2^32 is not a position in a
// tile. LLVM can where it knows how many threads there are.
Expr never(const Expr &position) {
  return Halide::cast<std::uint32_t>(position) * Expr(std::uint32_t{0x9E3779B1}) ==
         Expr(std::uint32_t{1});
}

class with_conditions_of_threads : public hi::IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const hi::Select *op) override {
    const Expr condition = mutate(op->condition);
    return hi::Select::make(reads_memory(op->condition) ? condition || never(position_) : condition,
                            mutate(op->true_value), mutate(op->false_value));
  }
  const Expr position_;

 public:
  explicit with_conditions_of_threads(Expr position) : position_(std::move(position)) {}
};

}  // namespace

key_range in_step(const key_range &r) {
  return {opaque_if_any(without_loads<hi::Max>(r.from)),
          opaque_if_any(without_loads<hi::Min>(r.to))};
}

Expr in_step(const Expr &e, const Expr &position) {
  return with_conditions_of_threads(position).mutate(e);
}

}  // namespace qkv::codegen
