// The ONNX cases that the language can say today, through compiled kernels; the others with what they lack.
#include <filesystem>
#include <map>

#include "tests/catch.hpp"
#include "tests/conformance/conformance.hpp"

namespace {

using conformance::all_cases;
using conformance::onnx_case;

void check_all(std::string_view prefix, int expected) {
  int run = 0;
  for (const onnx_case &c : all_cases()) {
    if (!c.missing.empty() || !c.name.starts_with(prefix)) continue;
    INFO(c.name << ": " << c.kernel);
    CHECK(conformance::run_case(c) == "");
    ++run;
  }
  CHECK(run == expected);
}

}  // namespace

TEST_CASE("ONNX Attention of rank 4") { check_all("attention_4d", 41); }
TEST_CASE("ONNX Attention of rank 3, heads packed into features") { check_all("attention_3d", 23); }
TEST_CASE("ONNX FlexAttention") { check_all("flexattention", 11); }
TEST_CASE("ONNX RotaryEmbedding") { check_all("rotary_embedding", 8); }
TEST_CASE("ONNX Softmax") { check_all("softmax", 7); }

TEST_CASE("every ONNX case about attention is either computed or says what is missing") {
  std::map<std::string, int> missing;
  int computed = 0;
  for (const onnx_case &c : all_cases()) {
    INFO(c.name);
    CHECK(std::filesystem::exists(conformance::data_of(c)) == c.missing.empty());
    if (c.missing.empty())
      ++computed;
    else
      ++missing[c.missing];
  }
  CHECK(computed == 90);
  const std::map<std::string, int> expected = {
      {"a scan over time with a carried state", 14},
  };
  CHECK(missing == expected);
}
