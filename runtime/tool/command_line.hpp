// SPDX-License-Identifier: BSL-1.0
#pragma once
// The commands with their options, and what a user typed.
#include <string_view>
#include <vector>

#include "tool/commands.hpp"

namespace qkv::tool {

struct command {
  std::string_view name, arguments;  // "K --in Q=q.npy ..."
  std::string_view what;             // a sentence
  std::vector<std::string_view> options;
  // Returns the exit code. Commands without a kernel have none.
  int (*run)(const request &) = nullptr;
};

// nullptr: there is none of this name.
const command *command_named(std::string_view name);

// All commands on a screen; one command with its options.
std::string usage(std::string_view program);
std::string usage_of(const command &, std::string_view program);

// The words after the command. Throws refusal with the word, and the one that was likely meant.
request read(const command &, const std::vector<std::string_view> &words,
             const std::vector<entry> &);

// The text about a word that is not known: "there is no command chek; did you mean check?"
std::string unknown(std::string_view kind, std::string_view word,
                    const std::vector<std::string_view> &known);
std::vector<std::string_view> command_names();

}  // namespace qkv::tool
