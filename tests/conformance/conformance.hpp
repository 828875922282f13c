#pragma once
// The exported cases of ONNX: which kernel computes each, and whether it does.
#include <map>
#include <string>
#include <vector>

namespace conformance {

// A line of cases.txt: "name kernel cap=2 Q:0213 K V Y".
struct onnx_case {
  std::string name, kernel;
  std::map<std::string, float> scalars;
  // tensor -> position in the file of each axis of the spec (-: the file lacks it, the tensor repeats along it), or ""
  std::map<std::string, std::string> orders;
};

// Every case of the families that ONNX has about attention, in the order of the file.
std::vector<onnx_case> all_cases();

// The folder that holds the data of an exported case.
std::string data_of(const onnx_case &);

// Runs a case through its compiled kernel; returns a description of wrong results, or an empty
// text.
std::string run_case(const onnx_case &);

}  // namespace conformance
