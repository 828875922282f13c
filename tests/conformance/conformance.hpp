// SPDX-License-Identifier: BSL-1.0
#pragma once
// The exported cases of ONNX: which kernel computes each, and whether it does.
#include <qkv/npy.hpp>
#include <qkv/run.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace conformance {

// A line of cases.txt: "name kernel cap=2 Q:0213 K V Y".
struct onnx_case {
  std::string name, kernel;
  std::map<std::string, float> scalars;
  // tensor -> position in the file of each axis of the spec (-: the file lacks it, the tensor
  // repeats along it), or ""
  std::map<std::string, std::string> orders;
};

// Every case of the families that ONNX has about attention, in the order of the file.
std::vector<onnx_case> all_cases();

// The folder that holds the data of an exported case.
std::string data_of(const onnx_case &);

// A number of a tensor of this dtype.
double read_element(const std::byte *, std::int32_t dtype);

// An argument of the spec that computes a case.
struct parameter {
  std::string name;
  std::vector<int> axes;  // equal numbers are axes of equal size
  bool is_output = false;
};

// The tensors of a case, as views of what its files hold. Texts say what is wrong; empty: nothing.
class case_tensors {
 public:
  std::string load(const onnx_case &, const std::vector<parameter> &);
  std::vector<qkv_tensor> arguments;  // in the order of the parameters; outputs are to be written
  std::string compare_results() const;

 private:
  std::map<std::string, qkv::npy_array> files_, results_;
  std::map<std::string, float> scalars_;
};

// Runs a case through its compiled kernel; returns a description of wrong results, or an empty
// text.
std::string run_case(const onnx_case &);

}  // namespace conformance
