// SPDX-License-Identifier: BSL-1.0
#pragma once
// A CUDA kernel whose text is printed, not made by Halide. Halide launches it, with the arguments
// that it finds in the place of the kernel: a placeholder.
#include <Halide.h>

#include <memory>
#include <string>
#include <vector>

namespace qkv::codegen {

struct printed_tensor {
  std::string type;  // of its elements, in C
  bool written = false;
  std::vector<Halide::Expr> last;  // the last position along each dimension, innermost first
  std::size_t first_number =
      0;  // the first element's place in memory; then strides, innermost first
  std::vector<std::string> loops;  // of a result, innermost first; Halide drops those of one step
  std::string halide_name;         // of the buffer; known once the placeholder is lowered
};

// One way to compute the kernel.
struct printed_code {
  std::string skeleton;   // the file, and its function
  std::string constants;  // of `struct spec`: sizes of the tile
  std::string what;       // for people: "mma 128 x 64"
  std::string target;     // sm_80
  int capability = 0;
  bool exact = false;  // for GPUs of this capability alone
  int fills = 0;       // for calls with at least so many blocks for 100 multiprocessors
  int threads = 0, shared_bytes = 0, merge_threads = 0;
  // By sizes of the call: the blocks, whether it is for them, and the blocks that merge.
  Halide::Expr blocks, fits = 1, merge_blocks = 0;
};

// In the text, the members of `a` are the tensors b0, b1 .. and the numbers n0, n1 ..
struct printed_kernel {
  std::string what;  // the step that it computes, as people call it
  std::string name;  // a part of the name of the placeholder's entry
  std::string spec;  // the text of `struct spec` without the constants of a code
  std::vector<printed_tensor> tensors;
  // The host computes these before the launch; an undefined one belongs to a tensor, and is known
  // once the placeholder is lowered.
  std::vector<Halide::Expr> numbers;
  std::vector<printed_code> codes;  // a call takes the first that fits it and its GPU
};

using printed_kernels = std::vector<std::shared_ptr<printed_kernel>>;

// A parameter of an entry, as Halide passes it.
struct entry_parameter {
  std::string halide_name;
  bool is_buffer = false;
};

// The name of the host's variable for a number.
std::string variable_of_number(const printed_kernel &, std::size_t number);

// The whole kernel as CUDA C++, to be included after its skeleton. Throws std::logic_error for a
// parameter that is none of its tensors and numbers.
std::string text_of(const printed_kernel &, const printed_code &,
                    const std::vector<entry_parameter> &);

}  // namespace qkv::codegen
