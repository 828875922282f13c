// SPDX-License-Identifier: BSL-1.0
#pragma once
// The command line that every generated library comes with. Parts that need the spec itself are
// passed in as functions, since the runtime knows neither the language's tracing nor the
// interpreter.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace qkv::tool {

// Sizes of axes by name, those known to the spec included.
using sizes = std::map<std::string, std::int64_t, std::less<>>;

// A dense tensor of any dtype, as numbers; row-major.
struct array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};
using arrays = std::map<std::string, array, std::less<>>;  // inputs and params by name

// A sum of products of sizes: "2*heads*seq*d_k*kv + 4*heads*seq*kv", and what it comes to.
struct amount {
  std::string formula;
  double value = 0;
};

// The cost of one call, by the formulas of the cost sheet.
struct cost {
  double flops_left_by_masks = 0;  // by masks of the spec; those of the call's data are unknown
  double bytes_moved = 0;  // of argument_bytes: without hidden keys and rows that are not looked up
  amount flops;            // of all pairs; contractions in the order that runs
  amount argument_bytes;   // inputs and outputs, once each
  amount intermediate_bytes;  // of all steps between, if each were stored
  amount stored_bytes;        // between stages
  amount peak_bytes;          // at once beside arguments, results and packed params, on one thread
  bool has_masks_of_data = false;  // lengths, documents: a call may compute fewer pairs
};

// The comparison of results with the reference.
struct verdict {
  bool right = false;
  double error = 0;    // the largest difference
  double allowed = 0;  // the difference that honest arithmetic in the same dtype may have
  std::string text;    // the error, with name and position; empty when right
};

// The change of a gradient's kernel along a direction of one argument: by differences, and by the
// gradient.
struct slope {
  std::string argument;
  double by_differences = 0, by_gradient = 0;
  std::string wrong;  // why they differ, or were not compared; empty when right
};

// A step of a kernel at every position; positions that a mask hides are -infinity.
struct step {
  std::string name;
  std::vector<std::string> axes;
  array values;

  std::string title() const {  // "scores [seq=4, kv=4]"
    std::string text;
    for (std::size_t d = 0; d < axes.size(); ++d)
      text += (d ? ", " : "") + axes[d] + "=" + std::to_string(values.shape[d]);
    return name + " [" + text + "]";
  }
};

// One kernel as the tool sees it. Every function may be empty; a command that needs it then fails
// with a message.
struct entry {
  std::string name;
  std::function<std::string(const sizes &)>
      describe;  // sizes may be incomplete: formulas instead of numbers
  std::function<std::string(const sizes &)> picture;  // an SVG of the pipeline
  std::function<std::vector<array>(const arrays &, const sizes &)>
      reference;  // outputs in order, in double precision
  std::function<qkv::tool::cost(const sizes &)> cost;
  // Compares the outputs of the compiled kernel, in order, with the reference, both for the same
  // inputs.
  std::function<verdict(const arrays &, const sizes &, const std::vector<array> &)> compare;
  // Of a gradient: compares its formulas with finite differences of its kernel, both by the
  // interpreter.
  std::function<std::vector<slope>(const arrays &, const sizes &, unsigned seed)> slopes;
  // Arguments, steps and results, in their order, in double precision; a step has the name that
  // let() gave it, else its formula.
  std::function<std::vector<step>(const arrays &, const sizes &)> trace;
  std::function<std::string(const std::vector<step> &)> heat_maps;  // an SVG of them
};

// The plan of a kernel on a machine: tiles of its stages, and the calls that each is for.
struct machine_sheet {
  std::string_view kernel, machine, text;
};

//   list                                                names, signatures, targets
//   describe K [--size seq=1000 ...] [--svg FILE]       shapes, cost, stages; a picture
//   describe K --machine x86-64-v3                      also its tiles there
//   describe K --ranks 64 [--link 12.5e9] [--peak 2e12]     costs on 1 to 64 machines
//   trace K [--in Q=q.npy ...] [--svg FILE]             the numbers of every step; heat maps
//   run K --in Q=q.npy ... --out O=o.npy [--threads N] [--device cuda|opencl]
//   check K [--size seq=1000 ...] [--seed N]            one line a size; without one, several
//           [--finite-differences]                      of a gradient: one line an argument, too
//           [--tool qemu-aarch64 arm/my_tool]           of the kernel in another build's tool
//   bench K [--size seq=1000 ...] [--threads N]         median, GFLOP/s, percent of the peak
//   serve                                               a peer of a benchmark, over stdin and
//                                                       stdout (runtime/serve)
// list, describe, check and bench print JSON with --json: an object a line.
// Returns 0 when all went well, 1 when a check failed, 2 when the command could not be carried out.
int main(int argc, char **argv, const std::vector<entry> &entries,
         const std::vector<machine_sheet> &machines = {});

}  // namespace qkv::tool
