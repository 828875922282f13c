#pragma once
// A child process in which a test may crash or hang.
#include <functional>
#include <string>

// What the child has to say, and how far it came.
struct child_report {
  char text[400];
  long k;  // the request that fails, if any
  bool for_good;

  void say(const std::string &);
};

// Runs something in a child process: what it said, or how it ended (a signal, no return within 100 s), or nothing.
std::string in_child(const std::function<void(child_report &)> &);
// Empty when it returned true.
std::string in_child(const std::function<bool()> &);
