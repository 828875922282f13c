#include "codegen/machines/machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

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
void refuse_mixture(const target &host, const std::vector<target> &others) {
  if (host.variants.empty()) return;
  const machine &first = host.variants[0];
  const auto check = [&](const machine &m) {
    if (m.target.arch != first.target.arch)
      throw std::runtime_error(
          fmt::format("targets {} and {} are for different processors", first.name, m.name));
  };
  for (const machine &m : host.variants) check(m);
  for (const target &t : others) check(t.variants[0]);
}

}  // namespace

const std::vector<machine> &machines() {
  static const std::vector<machine> all = [] {
    std::vector<machine> list;
    for (const file &f : files) list.push_back(parse_machine(f.name, f.text));
    return list;
  }();
  return all;
}

std::vector<target> targets_of(const std::string &list, const std::vector<machine> &known) {
  target host{"host", backend::host, {}};
  std::vector<target> others;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (word.empty()) continue;
    bool found = false;
    for (const machine &m : known) {
      if (m.name != word && m.part_of != word) continue;
      found = true;
      const auto is_it = [&](const machine &other) { return other.name == m.name; };
      if (m.device != backend::host)
        others.push_back({m.name, m.device, {m}});
      else if (std::none_of(host.variants.begin(), host.variants.end(), is_it))
        host.variants.push_back(m);
    }
    if (!found)
      throw std::runtime_error(
          fmt::format("target {} is not known; known: {}", word, names_of(known)));
  }
  refuse_mixture(host, others);
  std::stable_sort(host.variants.begin(), host.variants.end(),
                   [](const machine &a, const machine &b) { return a.preference > b.preference; });
  std::vector<target> all;
  if (!host.variants.empty()) all.push_back(std::move(host));
  all.insert(all.end(), others.begin(), others.end());
  if (all.empty()) throw std::runtime_error("no target given; known: " + names_of(known));
  return all;
}

}  // namespace qkv::codegen
