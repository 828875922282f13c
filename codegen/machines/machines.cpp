// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "codegen/machines/halide_target.hpp"
#include "codegen/machines/machine_text.hpp"

namespace qkv::codegen {
namespace {

struct file {
  const char *name, *text;
};
constexpr file files[] = {
#include "machine_files.inc"
};

std::string names_of(const std::vector<machine> &known) {
  std::set<std::string> names;
  for (const machine &m : known) {
    names.insert(m.name);
    if (!m.part_of.empty()) names.insert(m.part_of);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// One archive holds code for one processor; that of a GPU has a part for the host.
void refuse_mixture(const std::vector<machine> &all) {
  const Halide::Target first = halide_target(all[0]);
  for (const machine &m : all) {
    const Halide::Target target = halide_target(m);
    if (target.arch != first.arch || target.os != first.os)
      throw std::runtime_error(
          fmt::format("targets {} and {} are for different processors", all[0].name, m.name));
  }
}

// The host first, then the devices in the order in which they are named; of each the best first.
void put_in_order(std::vector<machine> &all) {
  std::vector<std::string> devices = {"host"};
  for (const machine &m : all) devices.push_back(m.device);
  const auto place = [&](const machine &m) {
    return std::pair(std::find(devices.begin(), devices.end(), m.device), -m.preference);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const machine &a, const machine &b) { return place(a) < place(b); });
}

}  // namespace

std::string_view text_of_machine(const std::string &name) {
  for (const file &f : files)
    if (f.name == name) return f.text;
  return {};
}

const std::vector<machine> &machines() {
  static const std::vector<machine> all = [] {
    std::vector<machine> list;
    for (const file &f : files) list.push_back(parse_machine(f.name, f.text, text_of_machine));
    return list;
  }();
  return all;
}

std::vector<machine> targets_of(const std::string &list, const std::vector<machine> &known) {
  std::vector<machine> all;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (word.empty()) continue;
    bool found = false;
    for (const machine &m : known) {
      if (m.name != word && m.part_of != word) continue;
      found = true;
      const auto is_it = [&](const machine &other) { return other.name == m.name; };
      if (std::none_of(all.begin(), all.end(), is_it)) all.push_back(m);
    }
    if (!found)
      throw std::runtime_error(
          fmt::format("target {} is not known; known: {}", word, names_of(known)));
  }
  if (all.empty()) throw std::runtime_error("no target given; known: " + names_of(known));
  refuse_mixture(all);
  put_in_order(all);
  return all;
}

}  // namespace qkv::codegen
