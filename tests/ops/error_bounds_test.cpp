// SPDX-License-Identifier: BSL-1.0
// dsl/README.md has the functions of one number, and the largest error of each pointwise operation.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <qkv/core/op.hpp>
#include <string>
#include <utility>

#include "tests/catch.hpp"

namespace qkv::testing {
namespace {

// The operations that are not exact, by their errors in f32 and f64.
std::string table_of_errors() {
  std::map<std::pair<double, double>, std::string> operations;
  for (const core::op_facts &o : core::op_table) {
    if (!is_pointwise(o.kind) || o.error.f32 == 0) continue;
    std::string &names = operations[{o.error.f32, o.error.f64}];
    names += fmt::format("{}{}", names.empty() ? "" : " ", o.name);
  }
  std::string header = "|", line = "|", errors = "|";
  for (const auto &[error, names] : operations) {
    const auto [of_f32, of_f64] = error;
    header += fmt::format(" `{}` |", names);
    line += "---|";
    errors += of_f32 == of_f64 ? fmt::format(" {} |", of_f32)
                               : fmt::format(" {} (f64: {}) |", of_f32, of_f64);
  }
  return header + "\n" + line + "\n" + errors + "\n";
}

std::string functions_of_one_number() {
  std::string names;
  for (const core::op_facts &o : core::op_table)
    if (is_function_of_one_number(o.kind))
      names += fmt::format("{}{}", names.empty() ? "" : " ", o.name);
  return "`" + names + "`";
}

bool is_in_readme(const std::string &text) {
  std::ifstream file(QKV_ROOT "/dsl/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  return readme.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("the README of the language has the functions of op_table") {
  INFO("the row of pointwise operations lacks " << functions_of_one_number());
  CHECK(is_in_readme(functions_of_one_number()));
}

TEST_CASE("the README of the language has the largest errors of op_table") {
  INFO("dsl/README.md lacks this table:\n" << table_of_errors());
  CHECK(is_in_readme("\n\n" + table_of_errors() + "\n"));
}

}  // namespace qkv::testing
