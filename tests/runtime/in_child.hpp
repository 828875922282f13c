// SPDX-License-Identifier: BSL-1.0
#pragma once
// Runs a function that may crash or hang in a child process.
#include <functional>
#include <string>

// The child's message and its progress.
struct child_report {
  char text[400];
  long k;  // the request that fails, if any
  bool for_good;

  void say(const std::string &);
};

// Runs a function in a child process. Returns its message, or how it ended (a signal, no return
// within 100 s), or why there is no child, or an empty text.
std::string in_child(const std::function<void(child_report &)> &);
// Empty if the function returned true.
std::string in_child(const std::function<bool()> &);
