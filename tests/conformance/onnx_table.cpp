// SPDX-License-Identifier: BSL-1.0
// Prints what is committed as generated/conformance.md: every ONNX case about attention and the
// kernel that computes it. A case is called computed only when it was, just now.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/conformance/conformance.hpp"

namespace {

using conformance::onnx_case;

constexpr std::array families = {"attention", "flexattention", "linear_attention",
                                 "rotary_embedding", "softmax"};

std::string outcome(const onnx_case &c) {
  if (const std::string wrong = conformance::run_case(c); !wrong.empty()) return "WRONG: " + wrong;
  return "`" + c.kernel + "`";
}

}  // namespace

int main() {
  const std::vector<onnx_case> cases = conformance::all_cases();
  std::printf(
      "# ONNX cases about attention\nWritten by a test that computes all %zu, through the kernels "
      "of "
      "`tests/conformance/`.\n",
      cases.size());
  std::size_t listed = 0;
  for (const char *family : families) {
    std::printf("\n| %s | |\n|---|---|\n", family);
    for (const onnx_case &c : cases) {
      if (!c.name.starts_with(family)) continue;
      std::printf("| %s | %s |\n", c.name.c_str(), outcome(c).c_str());
      ++listed;
    }
  }
  return listed == cases.size() ? 0 : 1;
}
