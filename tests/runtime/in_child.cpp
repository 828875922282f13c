// SPDX-License-Identifier: BSL-1.0
#include "in_child.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

void child_report::say(const std::string &what) {
  std::strncpy(text, what.c_str(), sizeof text - 1);
}

std::string in_child(const std::function<void(child_report &)> &f) {
  auto *r = static_cast<child_report *>(mmap(nullptr, sizeof(child_report), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (r == MAP_FAILED) return std::string("mmap: ") + std::strerror(errno);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    const std::string why = std::string("fork: ") + std::strerror(errno);
    munmap(r, sizeof(child_report));
    return why;
  }
  if (child == 0) {
    // The test framework's own handlers would print.
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
    alarm(100);
    f(*r);
    _exit(0);
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  std::string text = r->text;
  if (WIFSIGNALED(state))
    text = WTERMSIG(state) == SIGALRM ? "does not return"
                                      : "killed by signal " + std::to_string(WTERMSIG(state));
  else if (WEXITSTATUS(state) != 0 && text.empty())
    text = "ended with " + std::to_string(WEXITSTATUS(state));
  if (!text.empty() && r->k > 0)
    text += " (request " + std::to_string(r->k) + (r->for_good ? " and all after it)" : ")");
  munmap(r, sizeof(child_report));
  return text;
}

std::string in_child(const std::function<bool()> &f) {
  return in_child([&](child_report &r) {
    if (!f()) r.say("false");
  });
}
