#pragma once
// Memory and threads that fail on demand, and what an operation makes of it.
#include <qkv/status.hpp>

#include <functional>
#include <string>

#include "in_child.hpp"

namespace failing {

// From now on the k-th request (for memory by malloc, aligned_alloc, .., or operator new, or for a thread) fails, and, for
// good, all after it.
void from(long k, bool for_good);
// No request fails any more. Returns whether one did.
bool stop();

// Blocks of memory that were requested and not given back.
long blocks();

// An operation, and what it answers when nothing fails.
struct operation {
  std::function<qkv::status()> run;
  qkv::status_code untouched = qkv::status_code::ok;
  // Whether what must not change has not, after a run that failed.
  std::function<bool()> intact = [] { return true; };
};

// Runs the operation in a child process with its k-th request failing, once or for good, for every k until none is left to
// fail; after each failure once more untouched. Empty when it always answers out_of_memory or what it answers untouched,
// leaves intact what it should, loses no memory, and works the next time; else what went wrong, at which k.
std::string survived(const operation &);

}  // namespace failing
