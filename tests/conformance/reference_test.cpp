// SPDX-License-Identifier: BSL-1.0
// Every ONNX case about attention, through the interpreter that compiled kernels are compared with.
#include <qkv/core/half.hpp>

#include "codegen/program/program.hpp"
#include "codegen/program/slips.hpp"
#include "codegen/reference/interpreter.hpp"
#include "onnx_programs.hpp"
#include "tests/catch.hpp"
#include "tests/conformance/conformance.hpp"

namespace {

using namespace qkv::codegen;
using conformance::onnx_case;

// Calls f(i, address) for the element i, row-major, of a tensor.
template <class F>
void for_each_element(const qkv_tensor &t, F f) {
  const int bytes = qkv::size_of(static_cast<qkv::dtype>(t.dtype));
  std::int64_t n = 1;
  for (int d = 0; d < t.rank; ++d) n *= t.extent[d];
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i, at = 0;
    for (int d = t.rank; d-- > 0; rest /= t.extent[d]) at += rest % t.extent[d] * t.stride[d];
    f(i, static_cast<std::byte *>(t.data) + at * bytes);
  }
}

void write(std::byte *at, std::int32_t dtype, double x) {
  if (dtype == QKV_F16)
    *reinterpret_cast<std::uint16_t *>(at) = qkv::to_f16(static_cast<float>(x));
  else if (dtype == QKV_F64)
    *reinterpret_cast<double *>(at) = x;
  else
    *reinterpret_cast<float *>(at) = static_cast<float>(x);
}

conformance::parameter parameter_of(const program &p, node_id n) {
  conformance::parameter result{p[n].name, {}, p[n].kind == op::output};
  for (const axis_id a : p[n].shape) result.axes.push_back(p.axes[std::size_t(a)].root);
  return result;
}

std::string interpret_case(const onnx_case &c, const program &p) {
  std::vector<node_id> nodes = p.arguments;
  nodes.insert(nodes.end(), p.outputs.begin(), p.outputs.end());
  std::vector<conformance::parameter> parameters;
  for (const node_id n : nodes) parameters.push_back(parameter_of(p, n));
  conformance::case_tensors tensors;
  if (std::string wrong = tensors.load(c, parameters); !wrong.empty()) return wrong;
  arrays arguments;
  for (std::size_t k = 0; k < p.arguments.size(); ++k) {
    const qkv_tensor &t = tensors.arguments[k];
    array &a = arguments[p[p.arguments[k]].name];
    a.shape.assign(t.extent, t.extent + t.rank);
    for_each_element(t, [&](std::int64_t, const std::byte *at) {
      a.data.push_back(conformance::read_element(at, t.rank == 0 ? QKV_F32 : t.dtype));
    });
  }
  const arrays results = interpret(p, arguments);
  for (std::size_t k = p.arguments.size(); k < nodes.size(); ++k) {
    const qkv_tensor &t = tensors.arguments[k];
    const array &a = results.at(p[nodes[k]].name);
    for_each_element(
        t, [&](std::int64_t i, std::byte *at) { write(at, t.dtype, a.data[std::size_t(i)]); });
  }
  return tensors.compare_results();
}

}  // namespace

TEST_CASE("the interpreter computes every ONNX case, whose spec has no slip") {
  std::map<std::string, program> programs;
  for (program &p : qkv::testing::onnx_programs()) programs.emplace(p.name, p);
  for (const onnx_case &c : conformance::all_cases()) {
    INFO(c.name << ": " << c.kernel);
    const auto p = programs.find(c.kernel);
    REQUIRE(p != programs.end());
    CHECK(interpret_case(c, p->second) == "");
    CHECK(slips_of(p->second).empty());
  }
}
