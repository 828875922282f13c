// SPDX-License-Identifier: BSL-1.0
// Calls on CUDA against a driver that only records them: the caller's context and stream are used,
// host tensors are copied there and back, device tensors are not, nothing leaks, and failures
// become statuses.
#include <dlfcn.h>
#include <qkv/call.hpp>
#include <qkv/device.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "compiled.hpp"
#include "tests/catch.hpp"

namespace {

using namespace compiled;
using qkv::status_code;
using lines = std::vector<std::string>;

// The lines that one piece of work leaves in the log.
struct journal {
  std::string path = "/tmp/qkv-cuda-XXXXXX";
  journal() {
    REQUIRE(mkstemp(path.data()) >= 0);
    setenv("QKV_FAKE_CUDA_LOG", path.c_str(), 1);
  }
  ~journal() {
    unsetenv("QKV_FAKE_CUDA_LOG");  // what is freed at exit would make the file anew
    std::remove(path.c_str());
  }
  lines read() const {
    std::ifstream f(path);
    lines all;
    for (std::string line; std::getline(f, line);) all.push_back(line);
    return all;
  }
  long count(const std::string &start) const {
    const lines all = read();
    return std::count_if(all.begin(), all.end(), [&](const std::string &l) {
      return l.compare(0, start.size(), start) == 0;
    });
  }
};

struct problem {
  explicit problem(std::int64_t keys = 7)
      : sizes{extent<batch>(1), extent<seq>(5), extent<kv>(keys)} {}
  extents<decltype(extent<batch>(0)), decltype(extent<seq>(0)), decltype(extent<kv>(0))> sizes;
  tensor<batch, heads, seq, d> Q{sizes}, O{sizes};
  tensor<batch, heads, kv, d> K{sizes}, V{sizes};
  qkv::status call(const qkv::options &how) { return qkv::call<attend>(how, Q, K, V, O); }
};

}  // namespace

TEST_CASE("host tensors are copied there and back") {
  REQUIRE(qkv::available(qkv::device::cuda).ok());
  problem p;
  p.O.fill(-7);
  const journal l;
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  CHECK(l.count("launch") >= 1);
  CHECK(l.count("upload") == 3);
  CHECK(l.count("download") == 1);
  CHECK(l.count("push c1") > 0);
  const long allocations = l.count("alloc");
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  CHECK(l.count("alloc") == allocations);  // what was freed is kept for the next call
  CHECK(p.O(0, 0, 0, 0) == 0);             // the driver's memory, not computed
}

TEST_CASE("blocks share the keys of few rows, and a second launch merges their results") {
  problem few, many(1000);
  const journal one;
  REQUIRE(few.call({.on = qkv::device::cuda}).ok());
  const long launches = one.count("launch");
  const journal two;
  REQUIRE(many.call({.on = qkv::device::cuda}).ok());
  if (QKV_PRINTS_CUDA)
    CHECK(two.count("launch") == launches + 1);
  else  // without a compiler of CUDA, Halide has written the kernel
    CHECK(two.count("launch") == launches);
}

TEST_CASE("the caller's context and stream") {
  problem p;
  const journal l;
  REQUIRE(p.call({.on = qkv::device::cuda,
                  .device_context = reinterpret_cast<void *>(0xabc),
                  .device_stream = reinterpret_cast<void *>(0xdef)})
              .ok());
  CHECK(l.count("push") == l.count("push abc"));
  CHECK(l.count("push") > 0);
  CHECK(l.count("launch") == l.count("launch def"));
  CHECK(l.count("launch") > 0);
  // Host memory may be page-locked: it is written when the call returns, and may be overwritten.
  const lines all = l.read();
  const auto last = [&](const std::string &start) {
    return std::find_if(all.rbegin(), all.rend(),
                        [&](const std::string &line) { return line.starts_with(start); });
  };
  CHECK(last("wait def") < last("stream def"));
}

TEST_CASE("a GPU that grants too little shared memory is a status with the bytes") {
  problem p;
  setenv("QKV_FAKE_CUDA_SMALL", "1", 1);
  // A context of its own: the GPU of a context is asked once.
  const qkv::status s =
      p.call({.on = qkv::device::cuda, .device_context = reinterpret_cast<void *>(0x5a11)});
  unsetenv("QKV_FAKE_CUDA_SMALL");
  const std::string text = s.text();
  INFO(text);
  // Where no compiler of CUDA was found, Halide has written the kernel, which needs no more.
  if (s.ok()) return;
  CHECK(s.code() == status_code::device_failed);
  CHECK(text.find("bytes of shared memory a block; this one has 9.0 and 16384 bytes") !=
        std::string::npos);
}

TEST_CASE("device tensors stay where they are") {
  problem p;
  const auto memory = [](std::int64_t n) {
    qkv::device_memory m;
    REQUIRE(qkv::device_memory::make({.on = qkv::device::cuda}, 4, n, m).ok());
    return m;
  };
  const auto q = memory(p.Q.elements()), k = memory(p.K.elements()), v = memory(p.V.elements()),
             o = memory(p.O.elements());
  const auto on = qkv::device::cuda;
  const qkv::device_view<batch, heads, seq, d> Q(on, q.handle(), p.sizes),
      O(on, o.handle(), p.sizes);
  const qkv::device_view<batch, heads, kv, d> K(on, k.handle(), p.sizes),
      V(on, v.handle(), p.sizes);
  const journal l;
  REQUIRE(qkv::call<attend>(Q, K, V, O).ok());
  CHECK(l.count("upload") + l.count("download") + l.count("alloc") + l.count("free") == 0);
  CHECK(l.count("launch") >= 1);
  CHECK(l.count("synchronize") + l.count("wait") >= 1);
  const journal streamed;
  const qkv::options on_stream = {.device_context = reinterpret_cast<void *>(0xabc),
                                  .device_stream = reinterpret_cast<void *>(0xdef)};
  REQUIRE(qkv::call<attend>(on_stream, Q, K, V, O).ok());
  CHECK(streamed.count("synchronize") + streamed.count("wait") == 0);
  REQUIRE(qkv::call<attend>(on_stream, Q, p.K, V, O).ok());
  CHECK(streamed.count("wait def") >= 1);
  const journal mixed;
  REQUIRE(qkv::call<attend>(Q, p.K, V, p.O).ok());
  CHECK(mixed.count("upload") == 1);
  CHECK(mixed.count("download") == 1);
}

TEST_CASE("memory that cannot be") {
  using qkv::device;
  using qkv::device_memory;
  const auto text = [](device on, int bytes, std::int64_t n) {
    device_memory m;
    return std::string(device_memory::make({.on = on}, bytes, n, m).text());
  };
  for (const int bytes : {0, 3, 16, 32, 33, -2})
    CHECK(text(device::cuda, bytes, 10) ==
          "device_memory: elements of " + std::to_string(bytes) + " bytes; 1, 2, 4 and 8 exist");
  CHECK(text(device::host, 4, 10) == "device_memory: the host is not a device");
  CHECK(text(static_cast<device>(7), 4, 10) == "device_memory: there is no device 7");
  CHECK(qkv::available(static_cast<device>(-1)).code() == status_code::wrong_device);
  CHECK(text(device::cuda, 4, 0) == "device_memory: 0 elements; from 1 to 2147483647 fit");
  device_memory m;
  REQUIRE(device_memory::make({.on = device::cuda}, 4, 10, m).ok());
  CHECK(m.copy_from(nullptr).code() == status_code::null_data);
  CHECK(m.copy_to(nullptr).code() == status_code::null_data);
}

TEST_CASE("a pointer of a device that is not aligned to its elements") {
  problem p;
  const auto on = qkv::device::cuda;
  qkv::device_memory q;
  REQUIRE(qkv::device_memory::make({.on = on}, 4, p.Q.elements() + 1, q).ok());
  const qkv::device_view<batch, heads, seq, d> Q(on, static_cast<char *>(q.handle()) + 1, p.sizes);
  CHECK(qkv::call<attend>(Q, p.K, p.V, p.O).text() ==
        std::string("attend: data of Q is not aligned to the 4 bytes of f32"));
}

TEST_CASE("params are copied to the device once") {
  const extents sizes(extent<batch>(2), extent<seq>(5));
  tensor<batch, seq, d_model> X(sizes);
  tensor<d_model, heads, d> W;
  tensor<heads, d> b;
  const auto on = qkv::device::cuda;
  qkv::device_memory x, y;
  REQUIRE(qkv::device_memory::make({.on = on}, 4, X.elements(), x).ok());
  REQUIRE(qkv::device_memory::make({.on = on}, 4, 2 * 5 * 4 * 32, y).ok());
  const qkv::device_view<batch, seq, d_model> X_there(on, x.handle(), sizes);
  const qkv::device_view<batch, heads, seq, d> Y(on, y.handle(), sizes);
  const journal l;
  const auto m = qkv::prepare<compiled::project>({.on = on}, W, b);
  REQUIRE(m.ok());
  CHECK(l.count("upload") == 2);
  REQUIRE(m(X_there, Y).ok());
  REQUIRE(m(X_there, Y).ok());
  CHECK(l.count("upload") == 2);
  CHECK(l.count("download") == 0);
  CHECK(l.count("launch") >= 2);
  // The params stay in the context in which they were prepared.
  const journal apart;
  const qkv::options in_abc = {.on = on, .device_context = reinterpret_cast<void *>(0xabc)};
  const auto in_context = qkv::prepare<compiled::project>(in_abc, W, b);
  REQUIRE(in_context(X_there, Y).ok());
  CHECK(apart.count("push") > 0);
  CHECK(apart.count("push") == apart.count("push abc"));
  CHECK(in_context({.device_context = reinterpret_cast<void *>(0xdef)}, X_there, Y).text() ==
        std::string("project: its params were prepared in another context"));
  CHECK(in_context(in_abc, X_there, Y).ok());
  // So do params that were on the device before.
  qkv::device_memory w, bias;
  REQUIRE(qkv::device_memory::make({.on = on}, 4, W.elements(), w).ok());
  REQUIRE(qkv::device_memory::make({.on = on}, 4, b.elements(), bias).ok());
  const auto in_place =
      qkv::prepare<compiled::project>(in_abc, qkv::device_view<d_model, heads, d>(on, w.handle()),
                                      qkv::device_view<heads, d>(on, bias.handle()));
  const journal there;
  REQUIRE(in_place(X_there, Y).ok());
  CHECK(there.count("upload") == 0);
  CHECK(there.count("push") > 0);
  CHECK(there.count("push") == there.count("push abc"));
}

TEST_CASE("trim gives memory back to the driver") {
  problem p;
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  const journal l;
  qkv::pool_of(qkv::device::cuda).trim();
  CHECK(l.count("free") >= 4);
  CHECK(l.count("free without a context") == 0);
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  CHECK(l.count("alloc") >= 4);
}

TEST_CASE("the context of the calling thread") {
  problem p;
  void *const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  REQUIRE(driver);
  const auto set = reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"));
  REQUIRE(set);
  const journal primary;
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  CHECK(primary.count("push") > 0);
  CHECK(primary.count("push") == primary.count("push c1"));
  set(reinterpret_cast<void *>(0xbee));
  const journal current;
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  CHECK(current.count("push") > 0);
  CHECK(current.count("push") == current.count("push bee"));
  set(nullptr);
}

TEST_CASE("failures of the driver are statuses") {
  problem p;
  p.sizes = decltype(p.sizes){extent<batch>(3), extent<seq>(500),
                              extent<kv>(700)};  // larger than what is kept
  p.Q = p.O = tensor<batch, heads, seq, d>(p.sizes);
  p.K = p.V = tensor<batch, heads, kv, d>(p.sizes);
  setenv("QKV_FAKE_CUDA_FULL", "1", 1);
  qkv::status s = p.call({.on = qkv::device::cuda});
  CHECK(s.code() == status_code::device_failed);
  CHECK(std::string(s.text()).compare(0, 8, "attend: ") == 0);
  qkv::device_memory m;
  CHECK(qkv::device_memory::make({.on = qkv::device::cuda}, 4, 1 << 24, m).code() ==
        status_code::device_failed);
  unsetenv("QKV_FAKE_CUDA_FULL");
  setenv("QKV_FAKE_CUDA_FAILS", "1", 1);
  s = p.call({.on = qkv::device::cuda});
  CHECK(s.code() == status_code::device_failed);
  unsetenv("QKV_FAKE_CUDA_FAILS");
  const journal l;
  REQUIRE(p.call({.on = qkv::device::cuda}).ok());
  CHECK(l.count("alloc") == 0);  // the failed call gave back what it had
}
