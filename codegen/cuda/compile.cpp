// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "codegen/process/child.hpp"
#include "codegen/process/first_error.hpp"

namespace qkv::codegen {
namespace {

struct skeleton {
  const char *name, *text;
};
constexpr skeleton skeletons[] = {
#include "skeleton_files.inc"
};

std::string contents_of(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The oldest version of PTX that has all the instructions of the skeletons: nvcc writes its own
// version, which older drivers refuse.
std::string for_older_drivers(std::string ptx, const std::string &target) {
  const std::string key = ".version ";
  const std::size_t at = ptx.find(key), end = ptx.find('\n', at);
  if (at == std::string::npos) throw std::logic_error("PTX without .version");
  return ptx.replace(at, end - at, key + (target == "sm_90a" ? "8.0" : "7.0"));
}

// The text of a file after those that its first lines include; each once.
std::string with_includes(const std::string &name, std::set<std::string> &seen) {
  if (!seen.insert(name).second) return "";
  const auto *f = std::ranges::find(skeletons, name, &skeleton::name);
  if (f == std::end(skeletons)) throw std::logic_error("there is no skeleton " + name);
  std::string_view rest = f->text;
  if (rest.starts_with("// SPDX")) rest.remove_prefix(rest.find('\n') + 1);
  std::string text;
  const std::string_view begin = "#include \"", end = ".cuh\"\n";
  while (rest.starts_with(begin)) {
    const std::size_t at = rest.find(end);
    text += with_includes(std::string(rest.substr(begin.size(), at - begin.size())), seen);
    rest.remove_prefix(at + end.size());
  }
  return text.append(rest);
}

}  // namespace

std::string skeleton(const std::string &name) {
  std::set<std::string> seen;
  return with_includes(name, seen);
}

std::string ptx_of(const std::string &text, const std::string &compiler, const std::string &target,
                   const std::string &folder) {
  const std::string source = folder + "/printed.cu", result = folder + "/printed.ptx",
                    log = folder + "/printed.log";
  std::ofstream(source) << text;
  const bool is_nvcc = std::filesystem::path(compiler).filename().string().find("nvcc") == 0;
  std::vector<std::string> command = {compiler, "-std=c++17", "-O3", "-o", result};
  if (is_nvcc)
    command.insert(command.end(), {"-ptx", "-arch=" + target});
  else
    command.insert(command.end(),
                   {"-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc",
                    "-nostdinc++", "-fms-extensions", "-S", "--cuda-gpu-arch=" + target});
  command.push_back(source);
  if (!run_program(command, log)) {
    const std::string error = first_error(log),
                      text =
                          fmt::format("{} could not compile a printed kernel: {}", compiler, error);
    // An old compiler does not know the newest GPUs. An error with a line is one of the text.
    if (error.find("printed.cu") != std::string::npos) throw std::logic_error(text);
    throw std::runtime_error(text);
  }
  return for_older_drivers(contents_of(result), target);
}

}  // namespace qkv::codegen
