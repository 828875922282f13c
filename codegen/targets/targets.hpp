#pragma once
// What kernels are compiled for. A user names targets (host, x86-64-v4, cuda, ...); a host build holds several
// instruction sets and picks one when it is loaded.
#include <Halide.h>

#include <string>
#include <vector>

namespace qkv::codegen {

enum class backend { host, cuda, opencl };

struct target {
  std::string name;  // as the user wrote it
  backend where = backend::host;
  std::vector<Halide::Target> variants;  // best first; the last runs everywhere that is supported
  std::vector<std::string> suffixes;
};

// Throws std::runtime_error naming the known ones.
target target_named(const std::string &name);

// "host,cuda" -> {host, cuda}; instruction sets named apart (x86-64-v3,zen4) become one host target.
std::vector<target> targets_of(const std::string &list);

std::string name_of(backend);

}  // namespace qkv::codegen
