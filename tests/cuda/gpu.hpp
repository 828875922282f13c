// SPDX-License-Identifier: BSL-1.0
#pragma once
// The emulated GPU as the tests use it: PTX runs, and its mistakes come back as text.
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace cuda_tests {

using address = unsigned long long;  // CUdeviceptr

// The library, loaded with this environment variable on top of the process's own.
class gpu {
 public:
  explicit gpu(const char *variable = nullptr, const char *value = nullptr);
  ~gpu();
  gpu(const gpu &) = delete;
  gpu &operator=(const gpu &) = delete;

  // A function of the driver: gpu.call("cuMemFree_v2", p). Returns its CUresult.
  template <class... Args>
  int call(const char *name, Args... args) {
    return reinterpret_cast<int (*)(Args...)>(symbol(name))(args...);
  }
  template <class... Args>
  void require(const char *name, Args... args) {
    must(call(name, args...), name);
  }
  std::string message();  // of the latest failure

  void *kernel(const std::string &ptx, const char *name = "k");  // throws when PTX is refused
  // Launches blocks of threads along x, and waits. Returns the text of what went wrong, or nothing.
  template <class... Args>
  std::string launch(void *kernel, unsigned blocks, unsigned threads, Args... args) {
    void *pointers[] = {static_cast<void *>(&args)..., nullptr};
    return launch_with(kernel, blocks, threads, pointers);
  }

  template <class T>
  address upload(const std::vector<T> &values) {
    const address p = allocate(values.size() * sizeof(T));
    require("cuMemcpyHtoD_v2", p, static_cast<const void *>(values.data()),
            values.size() * sizeof(T));
    return p;
  }
  template <class T>
  std::vector<T> download(address p, std::size_t n) {
    std::vector<T> values(n);
    require("cuMemcpyDtoH_v2", static_cast<void *>(values.data()), p, n * sizeof(T));
    return values;
  }
  address allocate(std::size_t bytes);

 private:
  void *symbol(const char *name);
  void must(int result, const char *name);
  std::string launch_with(void *kernel, unsigned blocks, unsigned threads, void **args);
  void *library_ = nullptr;
  void *context_ = nullptr;
  std::map<std::string, void *> symbols_;
};

// The text of a module with the entry k: parameters as in "u64 in, u64 out", registers %p, %h
// (16 bits), %r (32), %f, %d (64), %e (f64) from 0 to 39.
std::string entry(const std::string &parameters, const std::string &body);

// The value that an instruction leaves in the register it names: %p10, %h10, %r10, %f10, %d10, or
// %e10. Operands: a is in %h0, %r0, %f0, %d0 and %e0, b in %h1 .., c in %h2 ... Runs on a full warp
// and on a single lane, which must agree.
std::uint64_t value(gpu &, const std::string &instructions, std::uint64_t a = 0,
                    std::uint64_t b = 0, std::uint64_t c = 0);

// A thread per element: %r0 is its element of `in`, %r9 the thread, %r10 the result. Throws
// the text of what went wrong.
std::vector<std::uint32_t> lanes(gpu &, const std::string &body,
                                 const std::vector<std::uint32_t> &in);

inline std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

// One line of a table of instructions with known results.
struct known {
  const char *instruction;
  std::uint64_t a, b, c, expected;
};
void check(const std::vector<known> &);

}  // namespace cuda_tests
