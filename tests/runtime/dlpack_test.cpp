// SPDX-License-Identifier: BSL-1.0
// DLPack in and out: the call checks the fields of other libraries' tensors, and their deleters
// free what leaves.
#include <qkv/device.hpp>
#include <qkv/dlpack.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "fake.hpp"
#include "tests/catch.hpp"

// The layouts of dlpack.h 1.0.
struct DLDevice {
  int device_type;
  std::int32_t device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *);
};
struct DLPackVersion {
  std::uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

namespace {

using namespace qkv;
inline constexpr axis<"n"> n;
inline constexpr axis<"m", 3> m;

struct sample {
  float memory[24] = {};
  std::int64_t shape[2] = {2, 3}, strides[2] = {4, 1};
  DLTensor t{memory, {1, 0}, 2, {2, 32, 1}, shape, strides, 8};
};

}  // namespace

TEST_CASE("a tensor of another library") {
  sample s;
  const qkv_tensor t = dlpack_view<n, m>(s.t).descriptor();
  CHECK(t.data == s.memory + 2);
  CHECK(t.dtype == QKV_F32);
  CHECK(t.rank == 2);
  CHECK(t.device == QKV_HOST);
  CHECK(t.extent[0] == 2);
  CHECK(t.extent[1] == 3);
  CHECK(t.stride[0] == 4);
  CHECK(t.stride[1] == 1);
  s.t.strides = nullptr;
  CHECK(dlpack_view<n, m>(s.t).descriptor().stride[0] == 3);
}

TEST_CASE("types and devices of DLPack") {
  sample s;
  const auto dtype_of = [&](int code, int bits, int lanes) {
    s.t.dtype = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                 static_cast<std::uint16_t>(lanes)};
    return dlpack_view<n, m>(s.t).descriptor().dtype;
  };
  CHECK(dtype_of(2, 64, 1) == QKV_F64);
  CHECK(dtype_of(2, 16, 1) == QKV_F16);
  CHECK(dtype_of(4, 16, 1) == QKV_BF16);
  CHECK(dtype_of(0, 32, 1) == QKV_I32);
  CHECK(dtype_of(6, 8, 1) == QKV_B8);
  CHECK(dtype_of(1, 8, 1) == QKV_B8);
  CHECK(dtype_of(0, 64, 1) == -1);
  CHECK(dtype_of(2, 32, 4) == -1);
  CHECK(dtype_of(5, 64, 1) == -1);
  s.t.byte_offset = 0;
  const auto device_of = [&](int type) {
    s.t.device.device_type = type;
    return dlpack_view<n, m>(s.t).descriptor().device;
  };
  CHECK(device_of(2) == QKV_CUDA);
  CHECK(device_of(3) == QKV_HOST);
  CHECK(device_of(4) == QKV_OPENCL);
  CHECK(device_of(10) == -1);
}

TEST_CASE("what a kernel does not take is refused by the call") {
  fake::library l("copy", {{"n"}, {"m", 3}},
                  {{"X", QKV_IN, QKV_F32, {0, 1}}, {"Y", QKV_OUT, QKV_F32, {0, 1}}},
                  [](void **) { return 0; });
  const auto text = [&](const DLTensor &x) {
    float memory[6];
    const qkv_tensor arguments[] = {dlpack_view<n, m>(x).descriptor(),
                                    fake::tensor(memory, {2, 3})};
    return std::string(qkv::run(l.table, arguments).text());
  };
  sample s;
  CHECK(text(s.t) == qkv::status().text());
  s.t.dtype.code = 5;
  CHECK(text(s.t) == "copy: X is of dtype -1, which does not exist, but must be f32");
  s.t.dtype.code = 2;
  s.t.ndim = 9;
  CHECK(text(s.t) == "copy: X has 9 axes but must have 2: n, m");
  s.t.ndim = 2;
  s.t.device.device_type = 10;
  CHECK(text(s.t) == "copy: X is on device -1, which does not exist");
  s.t.device.device_type = 4;  // an OpenCL buffer has no address that an offset could be added to
  CHECK(text(s.t) == "copy: X is on device -1, which does not exist");
}

TEST_CASE("a tensor for another library") {
  tensor<n, m> Y({2});
  Y(1, 2) = 7;
  const float *memory = Y.data();
  DLManagedTensor *old = to_dlpack<DLManagedTensor>(std::move(Y));
  REQUIRE(old);
  CHECK(old->dl_tensor.data == memory);
  CHECK(old->dl_tensor.ndim == 2);
  CHECK(old->dl_tensor.shape[0] == 2);
  CHECK(old->dl_tensor.strides[0] == 3);
  CHECK(old->dl_tensor.dtype.bits == 32);
  CHECK(old->dl_tensor.device.device_type == 1);
  CHECK(dlpack_view<n, m>(old->dl_tensor).descriptor().data == memory);
  old->deleter(old);

  float six[6] = {};
  auto *versioned = to_dlpack<DLManagedTensorVersioned>(const_tensor_view<n, m>(six, {2}));
  REQUIRE(versioned);
  CHECK(versioned->version.major == 1);
  CHECK(versioned->flags == 1);
  CHECK(versioned->dl_tensor.data == six);
  versioned->deleter(versioned);

  auto *second = to_dlpack<DLManagedTensor>(device_view<n, m>(device::cuda, six, {2}), 1);
  REQUIRE(second);
  CHECK(second->dl_tensor.device.device_type == 2);
  CHECK(second->dl_tensor.device.device_id == 1);
  second->deleter(second);
}

TEST_CASE("what no call would take is not exported") {
  const auto exported = [](const DLTensor &x) {
    auto *all = to_dlpack<DLManagedTensor>(dlpack_view<n, m>(x));
    if (all) all->deleter(all);
    return all != nullptr;
  };
  const sample s;
  CHECK(exported(s.t));
  for (const auto &damage :
       {+[](DLTensor &t) { t.device.device_type = 10; }, +[](DLTensor &t) { t.dtype.bits = 4; },
        +[](DLTensor &t) { t.ndim = 9; }, +[](DLTensor &t) { t.ndim = -1; },
        +[](DLTensor &t) { t.data = nullptr; }}) {
    DLTensor t = s.t;
    damage(t);
    CHECK_FALSE(exported(t));
  }
}
