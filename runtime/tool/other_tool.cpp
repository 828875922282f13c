// SPDX-License-Identifier: BSL-1.0
#include "tool/other_tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <qkv/npy.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "devices/devices.hpp"

namespace qkv::tool {
namespace {

// A folder for files, which are gone with it.
class temporary_folder {
 public:
  temporary_folder() {
    std::error_code failed;
    path_ = std::filesystem::temp_directory_path(failed) / "qkv-XXXXXX";
    if (failed || !::mkdtemp(path_.data()))
      throw refusal(fmt::format("{}: {}", path_, std::strerror(errno)));
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder &) = delete;
  temporary_folder &operator=(const temporary_folder &) = delete;
  std::string file(const char *argument) const { return fmt::format("{}/{}.npy", path_, argument); }

 private:
  std::string path_;
};

using words = std::vector<std::string>;

// Runs a program without its standard output. Throws refusal where it does not succeed.
void run_program(const words &command) {
  std::vector<char *> argv;
  for (const std::string &word : command) argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &silent, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&silent);
  if (failed != 0) throw refusal(fmt::format("{}: {}", command[0], std::strerror(failed)));
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (state == 0) return;
  const std::string text = fmt::format("{}", fmt::join(command, " "));
  if (WIFEXITED(state)) throw refusal(fmt::format("it returned {}: {}", WEXITSTATUS(state), text));
  throw refusal(fmt::format("signal {} ended it: {}", WTERMSIG(state), text));
}

}  // namespace

void run_by_tool(const request &r, const kernel_sizes &s, std::vector<value> &arguments) {
  const qkv_kernel &k = *r.kernel;
  const temporary_folder folder;
  words in, out;
  const auto argument = [&](int i) -> value & { return arguments[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    const std::string file = folder.file(a.name);
    (a.role == QKV_OUT ? out : in).push_back(fmt::format("{}={}", a.name, file));
    if (a.role == QKV_OUT) continue;
    const npy_array numbers = argument(i).to_npy();
    const status done = write_npy(file, numbers.type, numbers.shape, numbers.data.data());
    if (!done) throw refusal(done.text());
  }
  words command = r.compared.tool;
  const auto add = [&](const words &more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  const auto add_list = [&](const char *option, const words &list) {
    if (!list.empty()) add({option}), add(list);
  };
  words size;
  for (const auto &[name, n] : s.by_name())
    if (s.fixed(name) < 0) size.push_back(fmt::format("{}={}", name, n));
  add({"run", k.name});
  add_list("--in", in);
  add_list("--size", size);
  if (r.threads != 0) add({"--threads", fmt::format("{}", r.threads)});
  if (r.on != device::host) add({"--device", detail::device_name(r.on)});
  add_list("--out", out);
  run_program(command);
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role != QKV_OUT) continue;
    npy_array file;
    if (const status read = read_npy(folder.file(a.name), file); !read) throw refusal(read.text());
    const std::string wrong = value::from(file, a.dtype, argument(i));
    if (!wrong.empty()) throw refusal(fmt::format("{} {}", a.name, wrong));
    if (file.shape != s.shape(a))
      throw refusal(fmt::format("{} has the shape [{}], not [{}]", a.name,
                                fmt::join(file.shape, ", "), fmt::join(s.shape(a), ", ")));
  }
}

}  // namespace qkv::tool
