// SPDX-License-Identifier: BSL-1.0
// The driver's functions: arguments, limits, streams, copies.
#include <numeric>

#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;
using words = std::vector<std::uint32_t>;

namespace {

constexpr int invalid_value = 1;

// Writes n + the block's index to out[block].
const std::string fill = entry("u64 out, u32 n", R"(
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  add.u32 %r3, %r1, %r2;
  mad.wide.u32 %d1, %r2, 4, %d1;
  st.global.u32 [%d1], %r3;)");

void *null = nullptr;

int launch(gpu &g, void *kernel, unsigned blocks, unsigned threads, unsigned shared, void *stream,
           void **args, void **extra = nullptr) {
  return g.call("cuLaunchKernel", kernel, blocks, 1u, 1u, threads, 1u, 1u, shared, stream, args,
                extra);
}

}  // namespace

TEST_CASE("arguments: as pointers, and as a buffer with its size") {
  gpu g;
  void *k = g.kernel(fill);
  address out = g.allocate(8);
  std::uint32_t n = 7;
  void *args[] = {&out, &n};
  REQUIRE(launch(g, k, 2, 1, 0, null, args) == 0);
  CHECK(g.download<std::uint32_t>(out, 2) == words{7, 8});
  struct {
    address out;
    std::uint32_t n;
  } packed{out, 20};
  std::size_t size = 12;
  void *extra[] = {reinterpret_cast<void *>(1), &packed, reinterpret_cast<void *>(2), &size,
                   nullptr};
  REQUIRE(launch(g, k, 2, 1, 0, null, nullptr, extra) == 0);
  CHECK(g.download<std::uint32_t>(out, 2) == words{20, 21});
}

TEST_CASE("arguments of the wrong number or size are refused") {
  gpu g;
  void *k = g.kernel(fill);
  address out = g.allocate(8);
  void *too_few[] = {&out, nullptr};
  CHECK(launch(g, k, 1, 1, 0, null, too_few) == invalid_value);
  CHECK(g.message() == "k: argument 1 of 2 is missing");
  CHECK(launch(g, k, 1, 1, 0, null, nullptr) == invalid_value);
  CHECK(g.message() == "k: argument 0 of 2 is missing");
  for (std::size_t size : {8, 16}) {
    void *extra[] = {reinterpret_cast<void *>(1), &out, reinterpret_cast<void *>(2), &size,
                     nullptr};
    CHECK(launch(g, k, 1, 1, 0, null, nullptr, extra) == invalid_value);
    CHECK(g.message() == "k: takes 12 bytes of arguments, not " + std::to_string(size));
  }
}

TEST_CASE("launches beyond the limits of the device are refused") {
  gpu g;
  void *k = g.kernel(fill);
  address out = g.allocate(8);
  std::uint32_t n = 0;
  void *args[] = {&out, &n};
  CHECK(launch(g, k, 1, 1025, 0, null, args) == invalid_value);
  CHECK(contains(g.message(), "1025 threads in a block"));
  CHECK(launch(g, k, 0, 1, 0, null, args) == invalid_value);
  CHECK(contains(g.message(), "empty grid"));
  CHECK(launch(g, k, 1, 1, 50000, null, args) == invalid_value);
  CHECK(contains(g.message(), "50000 bytes of shared memory"));
  REQUIRE(g.call("cuFuncSetAttribute", k, 8, 50000) == 0);
  CHECK(launch(g, k, 1, 1, 50000, null, args) == 0);
  CHECK(g.call("cuFuncSetAttribute", k, 8, 300000) == invalid_value);
}

TEST_CASE("work on a stream is done when the stream is waited for, and no earlier") {
  gpu g("PTX_PINNED", "1");
  void *k = g.kernel(fill), *stream = nullptr;
  address out = g.allocate(8);
  std::uint32_t n = 7;
  void *args[] = {&out, &n};
  constexpr unsigned non_blocking = 1;
  g.require("cuStreamCreate", &stream, non_blocking);
  words host(2, 99);
  REQUIRE(launch(g, k, 2, 1, 0, stream, args) == 0);
  n = 1000;  // arguments are those of the call
  REQUIRE(g.call("cuMemcpyDtoHAsync_v2", static_cast<void *>(host.data()), out, std::size_t{8},
                 stream) == 0);
  CHECK(host == words(2, 99));
  CHECK(g.download<std::uint32_t>(out, 1)[0] == 0xffffffff);
  REQUIRE(g.call("cuStreamSynchronize", stream) == 0);
  CHECK(host == words{7, 8});
  REQUIRE(g.call("cuStreamDestroy_v2", stream) == 0);
  CHECK(g.call("cuStreamSynchronize", stream) != 0);
}

TEST_CASE("what is no module is not unloaded") {
  gpu g;
  void *module = nullptr;
  g.require("cuModuleLoadData", &module, static_cast<const void *>(fill.c_str()));
  CHECK(g.call("cuModuleUnload", static_cast<void *>(nullptr)) == 400);
  CHECK(g.call("cuModuleUnload", module) == 0);
  CHECK(g.call("cuModuleUnload", module) == 400);
}

TEST_CASE("a copy to pageable memory waits for its stream, and copies of blocking streams too") {
  gpu g;
  void *k = g.kernel(fill), *stream = nullptr;
  address out = g.allocate(8);
  std::uint32_t n = 7;
  void *args[] = {&out, &n};
  words host(2, 99);
  g.require("cuStreamCreate", &stream, 1u);
  REQUIRE(launch(g, k, 2, 1, 0, stream, args) == 0);
  REQUIRE(g.call("cuMemcpyDtoHAsync_v2", static_cast<void *>(host.data()), out, std::size_t{8},
                 stream) == 0);
  CHECK(host == words{7, 8});
  void *blocking = nullptr;
  g.require("cuStreamCreate", &blocking, 0u);
  n = 30;
  REQUIRE(launch(g, k, 2, 1, 0, blocking, args) == 0);
  CHECK(g.download<std::uint32_t>(out, 2) == words{30, 31});
}

TEST_CASE("copies and fills outside of an allocation are refused") {
  gpu g;
  const address p = g.allocate(8);
  std::uint64_t host = 5;
  CHECK(g.call("cuMemcpyHtoD_v2", p, static_cast<const void *>(&host), std::size_t{8}) == 0);
  CHECK(g.call("cuMemcpyHtoD_v2", p + 1, static_cast<const void *>(&host), std::size_t{8}) ==
        invalid_value);
  CHECK(contains(g.message(), "1 bytes into an allocation of 8"));
  CHECK(g.call("cuMemcpyDtoH_v2", static_cast<void *>(&host), p + 4, std::size_t{8}) ==
        invalid_value);
  CHECK(g.call("cuMemsetD8_v2", p, static_cast<unsigned char>(1), std::size_t{9}) == invalid_value);
  CHECK(g.call("cuMemFree_v2", p + 4) == invalid_value);
  CHECK(g.call("cuMemFree_v2", p) == 0);
  CHECK(g.call("cuMemFree_v2", p) == invalid_value);
}

TEST_CASE("a failure is reported once, or with PTX_STICKY by every later call") {
  const std::string fault = entry("u64 out, u32 n", "mov.u64 %d1, 64; ld.global.b32 %r1, [%d1];");
  for (const char *sticky : {"0", "1"}) {
    gpu g("PTX_STICKY", sticky);
    CHECK_FALSE(g.launch(g.kernel(fault), 1, 1, address{0}, 0u).empty());
    CHECK((g.call("cuCtxSynchronize") != 0) == (*sticky == '1'));
  }
}
