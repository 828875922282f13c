// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/apart.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace qkv::codegen {
namespace {

constexpr std::size_t longest = 1024;
char *progress = nullptr;  // shared with the parent process

std::string without_warnings(const std::string &text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("Warning:", 0) != 0) kept += line + "\n";
  return kept;
}

std::string everything_from(int descriptor) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t n = read(descriptor, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(part, static_cast<std::size_t>(n));
  }
}

}  // namespace

void reached(const std::string &text) {
  if (progress) std::snprintf(progress, longest, "%s", text.c_str());
}

int apart(const std::function<int()> &work) {
  int words[2];
  void *shared = mmap(nullptr, longest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || pipe(words) != 0) return work();
  progress = static_cast<char *>(shared);
  std::fflush(nullptr);
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, nobody learns how the child ended
  [[maybe_unused]] const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
#if defined(__linux__)
    // A build that is stopped leaves no process behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#endif
    for (int s : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) std::signal(s, SIG_DFL);
    dup2(words[1], STDERR_FILENO);
    close(words[0]);
    close(words[1]);
    const int status = work();
    std::fflush(nullptr);
    _exit(status);
  }
  close(words[1]);
  if (child < 0) {
    close(words[0]);
    return work();
  }
  const std::string said = without_warnings(everything_from(words[0]));
  close(words[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) {
    fmt::print(stderr, "{}", said);
  } else {
    const std::string first = said.substr(0, said.find('\n'));
    fmt::print(stderr, "qkv: {}: the compiler of kernels crashed ({}){}{}\n", progress,
               strsignal(WTERMSIG(status)), first.empty() ? "" : ": ", first);
  }
  progress = nullptr;
  munmap(shared, longest);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace qkv::codegen
