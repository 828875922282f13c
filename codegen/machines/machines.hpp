#pragma once
// The machines that are built in, and those that a list of targets names.
#include <string>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// The files of this folder, in the order of their names.
const std::vector<machine> &machines();

// The code in one archive for a device: several instruction sets of the host, of which one is
// picked at load time, or one GPU.
struct target {
  std::string name;
  backend where = backend::host;
  std::vector<machine> variants;  // best first; the last runs everywhere that is supported
};

// "host,cuda" -> {host, cuda}; instruction sets that are named apart (x86-64-v3,zen4) become one
// host target. Throws std::runtime_error, which names the known ones, for an unknown name.
std::vector<target> targets_of(const std::string &list,
                               const std::vector<machine> &known = machines());

}  // namespace qkv::codegen
