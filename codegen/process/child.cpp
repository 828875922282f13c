// SPDX-License-Identifier: BSL-1.0
#include "codegen/process/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qkv::codegen {

bool run_program(const std::vector<std::string> &command, const std::string &log) {
  std::vector<char *> words;
  for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t output;
  posix_spawn_file_actions_init(&output);
  posix_spawn_file_actions_addopen(&output, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&output, 1, 2);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, words[0], &output, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&output);
  int how = 0;
  return failure == 0 && waitpid(child, &how, 0) == child && WIFEXITED(how) &&
         WEXITSTATUS(how) == 0;
}

}  // namespace qkv::codegen
