#include "codegen/targets/targets.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

namespace qkv::codegen {
namespace {

// In order of preference when loaded.
const std::vector<std::pair<std::string, std::string>> instruction_sets = {
    {"sapphirerapids",
     "x86-64-linux-avx-avx2-f16c-fma-sse41-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-avx512_sapphirerapids"},
    {"zen4",
     "x86-64-linux-avx-avx2-f16c-fma-sse41-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4"},
    {"x86-64-v4", "x86-64-linux-avx-avx2-f16c-fma-sse41-avx512-avx512_skylake"},
    {"x86-64-v3", "x86-64-linux-avx-avx2-f16c-fma-sse41"},
};

const std::string common = "-no_runtime-user_context";

const std::map<std::string, std::vector<std::string>> groups = {
    {"host", {"x86-64-v4", "x86-64-v3"}}};

std::string known() { return "host x86-64-v3 x86-64-v4 zen4 sapphirerapids cuda opencl"; }

target host_of(const std::string &name, const std::vector<std::string> &sets) {
  target t{name, backend::host, {}, {}};
  for (const auto &[set, features] : instruction_sets)
    for (const std::string &wanted : sets)
      if (wanted == set) {
        t.variants.emplace_back(features + common);
        t.suffixes.push_back(set);
        for (char &c : t.suffixes.back())
          if (c == '-') c = '_';
      }
  if (t.variants.empty())
    throw std::runtime_error("target " + name + " is not known; known: " + known());
  return t;
}

}  // namespace

target target_named(const std::string &name) {
  const std::string base = "x86-64-linux-avx-avx2-f16c-fma-sse41";
  if (name == "cuda")
    return {name,
            backend::cuda,
            {Halide::Target(base + "-cuda-cuda_capability_80" + common)},
            {"cuda"}};
  if (name == "opencl")
    return {name, backend::opencl, {Halide::Target(base + "-opencl" + common)}, {"opencl"}};
  if (auto it = groups.find(name); it != groups.end()) return host_of(name, it->second);
  return host_of(name, {name});
}

std::vector<target> targets_of(const std::string &list) {
  std::vector<target> result;
  std::vector<std::string> sets;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (word.empty()) continue;
    target t = target_named(word);
    if (t.where != backend::host) {
      result.push_back(t);
    } else if (auto it = groups.find(word); it != groups.end()) {
      sets.insert(sets.end(), it->second.begin(), it->second.end());
    } else {
      sets.push_back(word);
    }
  }
  if (!sets.empty()) result.insert(result.begin(), host_of("host", sets));
  if (result.empty()) throw std::runtime_error("no target given; known: " + known());
  return result;
}

std::string name_of(backend b) {
  return b == backend::host ? "host" : b == backend::cuda ? "cuda" : "opencl";
}

}  // namespace qkv::codegen
