// SPDX-License-Identifier: BSL-1.0
#pragma once
// One compiled kernel, one set of sizes, one layout, random numbers: run it, interpret it, compare.
#include <qkv/options.hpp>
#include <qkv/status.hpp>
#include <string>
#include <utility>

#include "codegen/program/program.hpp"
#include "codegen/reference/interpreter.hpp"
#include "tests/kernels/guarded.hpp"

namespace qkv::testing {

struct trial {
  const codegen::program &p;
  codegen::size_map sizes;
  layout how = layout::dense;
  guard where = guard::after;
  unsigned seed = 1;
  double scale = 1;  // of random f32 numbers
  device on = device::host;
};

// Empty when the compiled kernel agrees with the interpreter under the 2x rule and kept to its
// memory; else one line that says what is wrong, where, and how to run this trial again.
std::string run(const trial &);

// The first two axes that the call decides get these sizes in turn, batch axes 1 to 3, any_k and
// any_v others.
using two_sizes = std::pair<std::int64_t, std::int64_t>;
codegen::size_map sizes_for(const codegen::program &, two_sizes, unsigned seed);

// True if the sizes of other axes determine this one, as past and new keys determine all keys.
bool is_decided(const codegen::program &, codegen::axis_id);

// The arguments of a trial, as `run` makes them.
codegen::arrays random_arguments(const trial &);

// Runs the kernel of a trial on these arguments. `results` receives its outputs, whatever the
// status is.
status results_of(const trial &, const codegen::arrays &arguments, codegen::arrays &results);

// The status of that trial's call alone: whether the device is there at all.
status try_device(const trial &);

// "causal_self seq=17 batch=2 padded after seed=7"
std::string text_of(const trial &);

// The line that runs this trial alone: QKV_TRIAL="causal_self seq=17 ..".
std::string again(const trial &);

// False if QKV_TRIAL names another trial.
bool asked_for(const trial &);

}  // namespace qkv::testing
