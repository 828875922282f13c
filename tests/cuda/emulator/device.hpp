// SPDX-License-Identifier: BSL-1.0
#pragma once
// The state behind the driver's functions: memory, contexts, streams, failures.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/cuda/emulator/launch.hpp"

namespace qkv::ptx {

// CUresult, as far as it is used here.
enum class result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialised = 3,
  invalid_device = 101,
  invalid_context = 201,
  no_binary = 209,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  illegal_address = 700,
};

struct context {};

struct stream {
  bool blocking = true;  // ordered with the default stream
  std::deque<std::function<void()>> work;
};

// The profile of one kernel.
struct profiled {
  std::uint64_t launches = 0;
  statistics total;
  std::vector<std::string> lines;  // of each instruction
};

struct device {
  std::recursive_mutex lock;
  bool initialised = false;
  settings how = settings::from_environment();
  int capability = environment_number("PTX_SM", 90);
  bool log_launches = environment_number("PTX_LOG", 0) != 0;
  bool log_calls = environment_number("PTX_CALLS", 0) != 0;
  // Host memory counts as page-locked: copies to it are as late as other work of their stream.
  bool pinned = environment_number("PTX_PINNED", 0) != 0;
  // Failures of kernels are reported by one call, or, as on hardware, by every later call.
  bool sticky = environment_number("PTX_STICKY", 0) != 0;
  allocations memory;
  std::set<stream *> streams;
  context primary;
  result failed = result::success;
  std::string last_error;
  std::map<std::string, profiled> profile;

  result report_failure();
  // Prints a mistake of the caller and keeps it for cuGetErrorString.
  result refuse(result, const std::string &why);
  ~device() = delete;  // programs free their memory until the very end, in any order
};

device &gpu();
std::vector<context *> &contexts();  // of this thread; the last is current

// Each function of the driver begins with one. It holds the lock and prints the name (PTX_CALLS=1).
class call {
 public:
  explicit call(const char *name);

 private:
  std::lock_guard<std::recursive_mutex> hold_;
};

// Work on a stream is done as late as the program allows, so that a missing wait shows. The default
// stream's work is done at once, after that of the streams which are ordered with it.
result submit(stream *, std::function<void()> work);
result synchronise(stream *);
void finish_all_streams();
void finish_blocking_streams();

}  // namespace qkv::ptx
