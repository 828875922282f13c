// SPDX-License-Identifier: BSL-1.0
// Specs that the fuzzer prints can be pasted: they compile, and to the same kernel.
#include "tests/fuzz/printed.hpp"

#include "codegen/program/text.hpp"
#include "tests/catch.hpp"

TEST_CASE("printed specs compile to the programs that they came from") {
  const auto all = all_printed();
  CHECK(all.size() == 50);
  for (const printed &p : all) {
    INFO(to_text(p.compiled));
    CHECK(fingerprint(p.compiled) == p.fingerprint);
  }
}
