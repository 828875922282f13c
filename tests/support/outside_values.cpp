// SPDX-License-Identifier: BSL-1.0
#include "tests/support/outside_values.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace qkv::testing {
namespace {

core::op named(const std::string &name) {
  if (name == "sub") return core::op::sub;  // "-" is the sign
  for (const core::op_facts &o : core::op_table)
    if (o.name == name && is_pointwise(o.kind)) return o.kind;
  throw std::runtime_error("outside_values.txt: there is no operation " + name);
}

}  // namespace

std::vector<outside_value> outside_values() {
  std::ifstream file(QKV_ROOT "/tests/program/outside_values.txt");
  std::vector<outside_value> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, x, y, value;
    words >> name >> x >> y >> value;
    all.push_back({named(name), std::stod(x), std::stod(y), std::stold(value)});
  }
  return all;
}

}  // namespace qkv::testing
