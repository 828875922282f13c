// SPDX-License-Identifier: BSL-1.0
#pragma once
// The commands of the tool, one file each, and what they share.
#include <qkv/kernel.h>
#include <qkv/options.hpp>
#include <qkv/tool.hpp>

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tool/data.hpp"

namespace qkv::tool {

// The command cannot be carried out; what() goes to stderr.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Machines that share the tokens of a call, and what each can do; 0: not given.
struct cluster {
  int ranks = 0;
  double peak = 0, link = 0, bandwidth = 0, latency = 10e-6;
};

// The comparison of `check`.
struct comparison {
  bool by_differences = false;    // a gradient with finite differences, too
  std::vector<std::string> tool;  // the words that run the tool of another build; none: this one
};

// The command line after the command.
struct request {
  const qkv_kernel *kernel = nullptr;  // none for commands without
  const entry *spec =
      nullptr;  // what the spec itself knows; nullptr when the library was made without
  std::map<std::string, std::int64_t> size;
  std::map<std::string, std::string> in, out;
  std::string svg;  // where to draw; empty: nowhere
  bool json = false;
  int threads = 0;
  unsigned seed = 1;
  const std::vector<entry> *entries = nullptr;  // of all kernels of the library
  std::span<const machine_sheet> machines;      // of all kernels, too
  std::string machine;                          // whose plan to show; empty: nobody's
  cluster shared_by;                            // whose plan and pace to show
  comparison compared;
  device on = device::host;

  options how() const {
    options o;
    o.threads = threads;
    o.on = on;
    return o;
  }
  // The sizes that the user gave; the others are still unknown. Throws refusal for axes that the
  // kernel does not have.
  kernel_sizes sizes_asked() const;
  // Throws refusal unless the kernel has code that this processor can run, or that is for the
  // device of the request, whose driver exists.
  void require_machine() const;
};

// Flushes what was printed; throws refusal if it does not reach its reader: a full disk, a closed
// pipe.
void flush_output();

// Writes a whole file, or throws refusal.
void write_text(const std::string &path, const std::string &text);

void list(const request &);
void describe(const request &);
void describe_ranks(const request &);  // on many machines
void run(const request &);
void trace(const request &);
bool check(const request &);  // true if all results were right
void bench(const request &);

}  // namespace qkv::tool
