// SPDX-License-Identifier: BSL-1.0
#pragma once
// Compiled kernels on one machine and on several, with arguments that are drawn.
#include <functional>
#include <qkv/ring.hpp>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"
#include "codegen/reference/interpreter.hpp"
#include "tests/support/on_machines.hpp"

namespace qkv::testing {

struct distributed_kernel {
  const char *name, *query, *key;
};
// Those of ring_specs.hpp.
const std::vector<distributed_kernel> &distributed_kernels();
const codegen::program &program_of(const distributed_kernel &);
// So many queries, and keys where they are others.
codegen::size_map sizes_for(const codegen::program &, std::int64_t queries, std::int64_t keys);

class distributed_calls {
 public:
  distributed_calls(const distributed_kernel &, const codegen::size_map &);

  // Results that are not rounded to their types.
  codegen::arrays reference() const;
  // Throws std::runtime_error where the call fails.
  codegen::arrays on_one() const;
  codegen::arrays blank() const;  // NaN

  // The call of one machine; its results go to their places in `whole`, under a lock. `change` may
  // spoil its tensors.
  using spoiler = std::function<void(int rank, std::vector<qkv_tensor> &)>;
  status on(ring::transport &, const ring::layout &, codegen::arrays &whole,
            const ring::settings & = {.deadline = std::chrono::seconds(20)},
            const spoiler &change = {}) const;
  // The distance of the own results of a machine.
  double own_distance(const codegen::arrays &expected, const codegen::arrays &found,
                      const ring::layout &, int rank) const;

 private:
  distributed_kernel k_;
  const codegen::program &p_;
  codegen::size_map sizes_;
  codegen::arrays in_;
  const qkv_kernel *table_ = nullptr;
};

// The difference of sums that are added up in another order, beside twice the error of one
// machine: 1e-6 of the largest element, where that is a sum over all pairs.
double rounding(const distributed_kernel &, const codegen::arrays &reference);

// The largest difference of two elements; 1e9 where one of them alone is NaN.
double distance(const codegen::arrays &, const codegen::arrays &);

using layout_maker = ring::layout (*)(int machines, std::int64_t queries, std::int64_t keys);
struct named_layout {
  const char *name;
  layout_maker make;
};
const std::vector<named_layout> &layouts();

}  // namespace qkv::testing
