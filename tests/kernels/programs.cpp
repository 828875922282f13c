#include "tests/kernels/programs.hpp"

#include "codegen/program/from_graph.hpp"
#include "tests/kernels/dropout_specs.hpp"
#include "tests/kernels/f64_specs.hpp"
#include "tests/kernels/gpu_specs.hpp"
#include "tests/kernels/odd_specs.hpp"
#include "tests/kernels/order_specs.hpp"
#include "tests/kernels/scan_specs.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/kernels/zoo_specs.hpp"

namespace qkv::testing {

using codegen::make_program;
using codegen::program;

const std::vector<program> &programs_everywhere() {
  static const std::vector<program> all = {QKV_PROGRAMS_EVERYWHERE};
  return all;
}

const std::vector<program> &programs() {
  static const std::vector<program> all = [] {
    std::vector<program> list = programs_everywhere();
    for (const program &p : {QKV_PROGRAMS_HOST}) list.push_back(p);
    return list;
  }();
  return all;
}

const std::vector<program> &programs_of_gpus() {
  static const std::vector<program> all = [] {
    std::vector<program> list = programs_everywhere();
    for (const program &p : {QKV_PROGRAMS_GPU}) list.push_back(p);
    return list;
  }();
  return all;
}

}  // namespace qkv::testing
