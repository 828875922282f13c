// SPDX-License-Identifier: BSL-1.0
#include "tests/conformance/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <qkv/core/half.hpp>
#include <qkv/npy.hpp>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <sstream>
#include <utility>

namespace conformance {
namespace {

const std::string folder = QKV_ROOT "/tests/conformance/";

std::int32_t dtype_of(qkv::npy_type type) {
  switch (type) {
    case qkv::npy_type::b8:
      return QKV_B8;
    case qkv::npy_type::i32:
      return QKV_I32;
    case qkv::npy_type::f16:
      return QKV_F16;
    case qkv::npy_type::f64:
      return QKV_F64;
    default:
      return QKV_F32;
  }
}

// The tensor of a file as the spec sees it: axes in the spec's order, strides those of the file, 0
// along an axis that the file lacks; sizes of those are left for later.
qkv_tensor tensor_of(qkv::npy_array &array, std::string order) {
  const int rank = static_cast<int>(array.shape.size());
  if (order.empty())
    for (int d = 0; d < rank; ++d) order += static_cast<char>('0' + d);
  std::vector<std::int64_t> strides(array.shape.size(), 1);
  for (int d = rank - 1; d-- > 0;)
    strides[std::size_t(d)] = strides[std::size_t(d) + 1] * array.shape[std::size_t(d) + 1];
  qkv_tensor t{};
  t.data = array.data.data();
  t.dtype = dtype_of(array.type);
  t.rank = static_cast<int>(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    if (order[d] == '-') {
      t.extent[d] = -1;
      continue;
    }
    const auto from = std::size_t(order[d] - '0');
    t.extent[d] = array.shape[from];
    t.stride[d] = strides[from];
  }
  return t;
}

// Gives the axes that files lack the sizes that other tensors have.
void complete(const std::vector<parameter> &parameters, std::vector<qkv_tensor> &arguments) {
  std::map<int, std::int64_t> sizes;  // by axis
  for (const bool fill : {false, true})
    for (std::size_t k = 0; k < arguments.size(); ++k)
      for (int d = 0; d < arguments[k].rank; ++d) {
        const int axis = parameters[k].axes[std::size_t(d)];
        std::int64_t &extent = arguments[k].extent[d];
        if (fill && extent < 0) extent = sizes.at(axis);
        if (extent >= 0) sizes[axis] = extent;
      }
}

double element(const qkv::npy_array &a, std::int64_t i) {
  return read_element(a.data.data() + i * qkv::size_of(a.type), dtype_of(a.type));
}

// Describes the first difference; empty if there is none.
std::string compare(const std::string &name, const qkv::npy_array &got,
                    const qkv::npy_array &want) {
  // ONNX allows 1e-3 relative. Honest float32 stays within a hundredth of that, and float64 far
  // below; 16 bits need it, as ONNX's own results were rounded at each step.
  const auto [relative, absolute] = got.type == qkv::npy_type::f16   ? std::pair(1e-3, 1e-7)
                                    : got.type == qkv::npy_type::f64 ? std::pair(1e-14, 1e-15)
                                                                     : std::pair(1e-5, 2e-6);
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const double g = element(got, i), w = element(want, i);
    if (g == w) continue;  // infinities too
    if (!(std::abs(g - w) <= relative * std::abs(w) + absolute))
      return name + " is " + std::to_string(g) + " where " + std::to_string(w) +
             " is expected, at " + std::to_string(i);
  }
  return {};
}

}  // namespace

double read_element(const std::byte *at, std::int32_t dtype) {
  switch (dtype) {
    case QKV_B8:
      return *reinterpret_cast<const std::uint8_t *>(at);
    case QKV_I32:
      return *reinterpret_cast<const std::int32_t *>(at);
    case QKV_F16:
      return qkv::from_f16(*reinterpret_cast<const std::uint16_t *>(at));
    case QKV_F64:
      return *reinterpret_cast<const double *>(at);
    default:
      return *reinterpret_cast<const float *>(at);
  }
}

std::vector<onnx_case> all_cases() {
  std::ifstream file(folder + "cases.txt");
  std::vector<onnx_case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    onnx_case c;
    words >> c.name >> c.kernel;
    for (std::string word; words >> word;) {
      if (const auto at = word.find('='); at != word.npos)
        c.scalars[word.substr(0, at)] = std::stof(word.substr(at + 1));
      else
        c.orders[word.substr(0, word.find(':'))] =
            word.find(':') == word.npos ? "" : word.substr(word.find(':') + 1);
    }
    cases.push_back(c);
  }
  return cases;
}

std::string data_of(const onnx_case &c) { return folder + "cases/" + c.name; }

std::string case_tensors::load(const onnx_case &c, const std::vector<parameter> &parameters) {
  scalars_ = c.scalars;
  for (const parameter &p : parameters) {
    if (const auto scalar = scalars_.find(p.name); scalar != scalars_.end()) {
      qkv_tensor t{};
      t.data = &scalar->second;
      arguments.push_back(t);
      continue;
    }
    const auto order = c.orders.find(p.name);
    if (order == c.orders.end()) return "no data for " + p.name;
    const std::string path = data_of(c) + "/" + p.name + ".npy";
    if (const qkv::status s = qkv::read_npy(path, files_[p.name]); !s) return s.text();
    qkv::npy_array *array = &files_[p.name];
    if (p.is_output) {  // a copy of the expected one, spoilt
      array = &(results_[p.name] = files_[p.name]);
      std::fill(array->data.begin(), array->data.end(), std::byte{0xff});
    }
    arguments.push_back(tensor_of(*array, order->second));
    if (arguments.back().rank != static_cast<int>(p.axes.size()))
      return "the data has another rank: " + p.name;
  }
  if (files_.size() != c.orders.size()) return c.kernel + " leaves tensors unused";
  complete(parameters, arguments);
  return {};
}

std::string case_tensors::compare_results() const {
  for (const auto &[name, got] : results_)
    if (std::string wrong = compare(name, got, files_.at(name)); !wrong.empty()) return wrong;
  return {};
}

std::string run_case(const onnx_case &c) {
  const auto found = qkv::kernels(c.kernel);
  if (found.size() != 1) return "no kernel " + c.kernel;
  const qkv_kernel &kernel = *found.front();
  std::vector<parameter> parameters;
  for (int k = 0; k < kernel.n_arguments; ++k) {
    const qkv_argument &a = kernel.arguments[k];
    parameters.push_back({a.name, {a.axes, a.axes + a.rank}, a.role == QKV_OUT});
  }
  case_tensors tensors;
  if (std::string wrong = tensors.load(c, parameters); !wrong.empty()) return wrong;
  if (const qkv::status s = qkv::run(kernel, tensors.arguments); !s) return s.text();
  return tensors.compare_results();
}

}  // namespace conformance
