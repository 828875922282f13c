// The ONNX cases that the language can say today, through compiled kernels; the others with what they lack.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <qkv/npy.hpp>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <sstream>
#include <string>

#include "tests/catch.hpp"

namespace {

const std::string folder = QKV_ROOT "/tests/conformance/";

// A line of cases.txt: "name kernel cap=2 Q:0213 K V Y", or "name - what is missing".
struct conformance_case {
  std::string name, kernel, missing;
  std::map<std::string, float> scalars;
  std::map<std::string, std::string> orders;  // tensor -> position in the file of each axis, or ""
};

std::vector<conformance_case> all_cases() {
  std::ifstream file(folder + "cases.txt");
  std::vector<conformance_case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    conformance_case c;
    words >> c.name >> c.kernel;
    if (c.kernel == "-") {
      std::getline(words >> std::ws, c.missing);
    } else {
      for (std::string word; words >> word;) {
        if (const auto at = word.find('='); at != word.npos)
          c.scalars[word.substr(0, at)] = std::stof(word.substr(at + 1));
        else
          c.orders[word.substr(0, word.find(':'))] =
              word.find(':') == word.npos ? "" : word.substr(word.find(':') + 1);
      }
    }
    cases.push_back(c);
  }
  return cases;
}

// The tensor of a file as the spec sees it: axes in the spec's order, strides those of the file.
qkv_tensor tensor_of(qkv::npy_array &array, std::string order) {
  const int rank = static_cast<int>(array.shape.size());
  if (order.empty())
    for (int d = 0; d < rank; ++d) order += static_cast<char>('0' + d);
  std::vector<std::int64_t> strides(array.shape.size(), 1);
  for (int d = rank - 1; d-- > 0;)
    strides[std::size_t(d)] = strides[std::size_t(d) + 1] * array.shape[std::size_t(d) + 1];
  qkv_tensor t{};
  t.data = array.data.data();
  t.dtype = array.type == qkv::npy_type::b8 ? QKV_B8 : QKV_F32;
  t.rank = rank;
  for (int d = 0; d < rank; ++d) {
    const auto from = std::size_t(order[std::size_t(d)] - '0');
    t.extent[d] = array.shape[from];
    t.stride[d] = strides[from];
  }
  return t;
}

// Runs one case and says what is wrong, or nothing.
std::string run_case(const conformance_case &c) {
  const auto found = qkv::kernels(c.kernel);
  if (found.size() != 1) return "no kernel " + c.kernel;
  const qkv_kernel &kernel = *found.front();
  std::map<std::string, qkv::npy_array> files, results;
  std::map<std::string, float> scalars = c.scalars;
  std::vector<qkv_tensor> arguments;
  for (int k = 0; k < kernel.n_arguments; ++k) {
    const qkv_argument &a = kernel.arguments[k];
    if (const auto scalar = scalars.find(a.name); scalar != scalars.end()) {
      qkv_tensor t{};
      t.data = &scalar->second;
      arguments.push_back(t);
      continue;
    }
    const auto order = c.orders.find(a.name);
    if (order == c.orders.end()) return std::string("no data for ") + a.name;
    const std::string path = folder + "cases/" + c.name + "/" + a.name + ".npy";
    if (const qkv::status s = qkv::read_npy(path, files[a.name]); !s) return s.text();
    qkv::npy_array *array = &files[a.name];
    if (a.role == QKV_OUT) {  // a copy of the expected one, spoilt
      array = &(results[a.name] = files[a.name]);
      std::fill(array->data.begin(), array->data.end(), std::byte{0xff});
    }
    arguments.push_back(tensor_of(*array, order->second));
  }
  if (const qkv::status s = qkv::run(kernel, arguments); !s) return s.text();
  for (auto &[name, got] : results) {
    const auto *g = reinterpret_cast<const float *>(got.data.data());
    const auto *w = reinterpret_cast<const float *>(files[name].data.data());
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      if (g[i] == w[i]) continue;  // infinities too
      // ONNX allows 1e-3 relative; honest float32 stays within a hundredth of that.
      if (!(std::abs(g[i] - w[i]) <= 2e-6f + 1e-5f * std::abs(w[i])))
        return name + " is " + std::to_string(g[i]) + " where " + std::to_string(w[i]) +
               " is expected, at " + std::to_string(i);
    }
  }
  return {};
}

void check_all(std::string_view prefix, int expected) {
  int run = 0;
  for (const conformance_case &c : all_cases()) {
    if (!c.missing.empty() || !c.name.starts_with(prefix)) continue;
    INFO(c.name << ": " << c.kernel);
    CHECK(run_case(c) == "");
    ++run;
  }
  CHECK(run == expected);
}

}  // namespace

TEST_CASE("ONNX Attention of rank 4") { check_all("attention_4d", 27); }
TEST_CASE("ONNX Attention of rank 3, heads packed into features") { check_all("attention_3d", 16); }
TEST_CASE("ONNX FlexAttention") { check_all("flexattention", 9); }
TEST_CASE("ONNX Softmax") { check_all("softmax", 7); }

TEST_CASE("every ONNX case about attention is either computed or says what is missing") {
  std::map<std::string, int> missing;
  int computed = 0;
  for (const conformance_case &c : all_cases()) {
    INFO(c.name);
    CHECK(std::filesystem::exists(folder + "cases/" + c.name) == c.missing.empty());
    if (c.missing.empty())
      ++computed;
    else
      ++missing[c.missing];
  }
  CHECK(computed == 59);
  const std::map<std::string, int> expected = {
      {"a mask that is shorter than the keys", 1},
      {"a scan over time with a carried state", 14},
      {"keys and values appended to a cache (concat)", 19},
      {"slices of an axis, and gathers by position", 8},
      {"storage as float16", 2},
      {"storage as float64", 1},
  };
  CHECK(missing == expected);
}
