// SPDX-License-Identifier: BSL-1.0
#pragma once
// Makes memory and threads fail on demand, and checks how an operation reacts.
#include <qkv/status.hpp>

#include <functional>
#include <string>

#include "in_child.hpp"

namespace failing {

// From now on, the k-th request fails (for memory by malloc, aligned_alloc, .. or operator new, or
// for a thread); with `for_good`, so do all after it.
void from(long k, bool for_good);
// Ends the failures. Returns true if a request has failed.
bool stop();

// Number of blocks of memory that were requested and not given back.
long blocks();

// An operation, and the status that it returns when nothing fails.
struct operation {
  std::function<qkv::status()> run;
  qkv::status_code untouched = qkv::status_code::ok;
  // True if what must not change is unchanged after a run that failed.
  std::function<bool()> intact = [] { return true; };
};

// Runs the operation in a child process with its k-th request failing, once or for good, for every
// k until none is left to fail; after each failure, runs it again undisturbed. Empty if it always
// returns out_of_memory or its undisturbed status, leaves `intact` true, leaks no memory and works
// the next time; else what went wrong, and at which k.
std::string survived(const operation &);

}  // namespace failing
