#pragma once
// Merges archives of object files without ar: no path passes through a shell or a script.
#include <string>
#include <vector>

namespace qkv::codegen {

// Creates the archive `whole` from all members of the archives `parts`, which are unpacked beside
// the parts. Throws std::runtime_error or Halide::Error naming the file that cannot be read or
// written.
void merge_archives(const std::vector<std::string> &parts, const std::string &whole);

}  // namespace qkv::codegen
