// SPDX-License-Identifier: BSL-1.0
// dsl/README.md has the largest error of each pointwise operation.
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

}  // namespace

TEST_CASE("the README of the language has the largest errors of op_table") {
  std::ifstream file(QKV_ROOT "/dsl/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}}, table = table_of_errors();
  INFO("dsl/README.md lacks this table:\n" << table);
  CHECK(readme.find("\n\n" + table + "\n") != std::string::npos);
}

}  // namespace qkv::testing
