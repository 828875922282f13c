#include "tests/kernels/programs.hpp"

#include "codegen/program/from_graph.hpp"
#include "tests/kernels/dropout_specs.hpp"
#include "tests/kernels/f64_specs.hpp"
#include "tests/kernels/gpu_specs.hpp"
#include "tests/kernels/odd_specs.hpp"
#include "tests/kernels/order_specs.hpp"
#include "tests/kernels/scan_specs.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/kernels/sums_specs.hpp"
#include "tests/kernels/zoo_specs.hpp"

namespace qkv::testing {

using codegen::make_program;
using codegen::program;

namespace {

const std::vector<program> everywhere = {QKV_PROGRAMS_EVERYWHERE};
const std::vector<program> without_cuda = {QKV_PROGRAMS_WITHOUT_CUDA};
const std::vector<program> host_only = {QKV_PROGRAMS_HOST};
const std::vector<program> gpus_only = {QKV_PROGRAMS_GPU};

}  // namespace

const std::vector<program> &programs_of(device on) {
  const auto joined = [](std::vector<const std::vector<program> *> parts) {
    std::vector<program> all;
    for (const auto *part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  static const std::vector<program> host = joined({&everywhere, &without_cuda, &host_only}),
                                    opencl = joined({&everywhere, &without_cuda, &gpus_only}),
                                    cuda = joined({&everywhere, &gpus_only});
  return on == device::host ? host : on == device::opencl ? opencl : cuda;
}

}  // namespace qkv::testing
