// SPDX-License-Identifier: BSL-1.0
// Every ONNX case about attention whose kernel this build compiles: all in the exhaustive tests.
#include <qkv/registry.hpp>

#include "tests/catch.hpp"
#include "tests/conformance/conformance.hpp"

namespace {

using conformance::all_cases;
using conformance::onnx_case;

// `usual`: how many of `all` cases the usual tests run.
void check_all(std::string_view prefix, int usual, int all) {
  int run = 0;
  for (const onnx_case &c : all_cases()) {
    if (!c.name.starts_with(prefix) || (!QKV_LONG && qkv::kernels(c.kernel).empty())) continue;
    INFO(c.name << ": " << c.kernel);
    CHECK(conformance::run_case(c) == "");
    ++run;
  }
  CHECK(run == (QKV_LONG ? all : usual));
}

}  // namespace

TEST_CASE("ONNX Attention of rank 4") { check_all("attention_4d", 19, 41); }
TEST_CASE("ONNX Attention of rank 3, heads packed into features") {
  check_all("attention_3d", 13, 23);
}
TEST_CASE("ONNX FlexAttention") { check_all("flexattention", 8, 11); }
TEST_CASE("ONNX RotaryEmbedding") { check_all("rotary_embedding", 8, 8); }
TEST_CASE("ONNX Softmax") { check_all("softmax", 7, 7); }

TEST_CASE("ONNX LinearAttention") { check_all("linear_attention", 10, 14); }

TEST_CASE("no ONNX case about attention is left out") { CHECK(all_cases().size() == 104); }
