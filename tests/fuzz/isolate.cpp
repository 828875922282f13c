// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/isolate.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace qkv::fuzz {
namespace {

// Reads the child's output until it closes the pipe. Returns false if that takes too long.
bool read_all(int pipe, std::string &text, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          end - std::chrono::steady_clock::now())
                          .count();
    pollfd one{pipe, POLLIN, 0};
    if (left <= 0 || poll(&one, 1, static_cast<int>(left)) == 0) return false;
    char part[4096];
    const ssize_t n = read(pipe, part, sizeof part);
    if (n <= 0) return true;
    text.append(part, static_cast<std::size_t>(n));
  }
}

}  // namespace

std::string isolated(const std::function<std::string()> &work, int seconds) {
  int ends[2];
  std::fflush(nullptr);
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for a child process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    close(ends[0]);
    setpgid(0, 0);  // its own children (a linker) end with it
    const std::string text = work();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  const bool in_time = read_all(ends[0], text, seconds);
  close(ends[0]);
  if (!in_time) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!in_time) return fmt::format("took longer than {} s", seconds);
  if (WIFSIGNALED(status)) return fmt::format("crashed: {}", strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fmt::format("crashed: exit {}", WEXITSTATUS(status));
  return text;
}

}  // namespace qkv::fuzz
