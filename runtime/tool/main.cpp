// SPDX-License-Identifier: BSL-1.0
// The command that a user typed, and its failures.
#include <fmt/format.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "serve/serve.hpp"
#include "tool/command_line.hpp"

namespace qkv::tool {
namespace {

using std::string_view;

int help(string_view program, const command *about) {
  fmt::print("{}", about ? usage_of(*about, program) : usage(program));
  return 0;
}

// Runs a command and returns its exit code.
int carry_out(string_view program, const std::vector<string_view> &words,
              const std::vector<entry> &entries, const std::vector<machine_sheet> &machines) {
  if (words.empty()) {
    fmt::print(stderr, "{}", usage(program));
    return 2;
  }
  const std::vector<string_view> rest(words.begin() + 1, words.end());
  const auto needed = [](string_view name) {
    const command *c = command_named(name);
    if (!c) throw refusal(unknown("command", name, command_names()));
    return c;
  };
  if (words[0] == "--version") {
    fmt::print("qkv {}, binary interface {}\n", QKV_VERSION, static_cast<int>(QKV_ABI));
    return 0;
  }
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h")
    return help(program, rest.empty() ? nullptr : needed(rest[0]));
  const command &c = *needed(words[0]);
  if (std::ranges::find(rest, "--help") != rest.end()) return help(program, &c);
  request r = read(c, rest, entries);
  r.machines = machines;
  if (c.run) return c.run(r);
  if (c.name == "serve") return serving::serve();
  list(r);
  return 0;
}

// Opens the standard streams that are closed: a file must not get the number of one, or output
// would go into it.
void occupy_closed_streams() {
  for (const int stream : {0, 1, 2}) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);  // using it still fails
  }
}

int refused(const char *why) {
  std::fputs(why, stderr);
  std::fputc('\n', stderr);
  return 2;
}

}  // namespace

void flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw refusal(fmt::format("standard output: {}", std::strerror(errno)));
}

int main(int argc, char **argv, const std::vector<entry> &entries,
         const std::vector<machine_sheet> &machines) {
  occupy_closed_streams();
  // A reader of our output that goes away is an error to report, not a reason to die.
  void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);
  int code = 2;
  try {
    code = carry_out(argv[0], {argv + 1, argv + argc}, entries, machines);
    flush_output();
  } catch (const std::bad_alloc &) {
    code = refused("no memory for tensors of these sizes");
  } catch (const std::exception &e) {
    code = refused(e.what());
  }
  std::signal(SIGPIPE, before);
  return code;
}

}  // namespace qkv::tool
