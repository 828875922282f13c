// SPDX-License-Identifier: BSL-1.0
#include <qkv/run.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory_resource>
#include <new>
#include <qkv/core/dtype.hpp>
#include <qkv/saved.hpp>
#include <vector>

#include "call/accumulate.hpp"
#include "call/check.hpp"
#include "call/invoke.hpp"
#include "memory/layout.hpp"
#include "status/fail.hpp"

namespace qkv::detail {

status run(const qkv_kernel &k, std::span<const qkv_tensor> arguments, const bound_params *bound,
           const options &how) noexcept {
  try {
    std::array<std::byte, 512> first;
    std::pmr::monotonic_buffer_resource memory(first.data(), first.size());
    std::pmr::vector<std::int64_t> sizes(static_cast<std::size_t>(std::max(0, k.n_axes)), &memory);
    if (status s = check(k, arguments, sizes); !s) return s;
    return how.accumulate ? accumulate(k, arguments, sizes, bound, how)
                          : invoke(k, arguments, sizes, bound, how);
  } catch (const std::bad_alloc &) {
    return fail(status_code::out_of_memory, "{}: no memory for the call itself", k.name);
  } catch (...) {
    return fail(status_code::kernel_failed, "{}: an exception reached the runtime", k.name);
  }
}

}  // namespace qkv::detail

namespace qkv {

status run(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
           const options &how) noexcept {
  return detail::run(k, arguments, nullptr, how);
}

status workspace_bytes(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
                       std::size_t &result, const options &how) noexcept try {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k.n_axes));
  if (status s = detail::check(k, arguments, sizes); !s) return s;
  workspace memory, outputs;
  std::vector<qkv_tensor> all(arguments.begin(), arguments.end());
  std::vector<detail::borrowed> kept;
  kept.reserve(all.size());
  for (int i = 0; i < k.n_arguments; ++i) {
    qkv_tensor &t = all[i];
    if (k.arguments[i].role != QKV_OUT || t.device != QKV_HOST) continue;
    const auto bytes =
        static_cast<std::size_t>(detail::span_of(t) * size_of(static_cast<dtype>(t.dtype)));
    t.data = kept.emplace_back(outputs, bytes).data();
    if (!t.data)
      return detail::fail(status_code::out_of_memory, "{}: no memory for {} bytes of output",
                          k.name, bytes);
  }
  options alone = how;
  alone.workspace = &memory;
  alone.threads = 1;
  alone.executor = nullptr;
  if (status s = detail::invoke(k, all, sizes, nullptr, alone); !s) return s;
  // Every thread may hold at once the peak of one thread; as much again for gaps between blocks of
  // several sizes.
  const int threads = how.threads > 0 ? how.threads : qkv::threads();
  result = 2 * memory.peak() * static_cast<std::size_t>(threads) + 4096;
  if (how.accumulate) result += 2 * detail::result_bytes(k, arguments);
  return {};
} catch (...) {
  return detail::fail(status_code::out_of_memory, "{}: no memory to measure the workspace", k.name);
}

}  // namespace qkv

namespace {

// A call from C: checks what only C can get wrong, and puts the message into the caller's text.
template <class Run>
int called_from_c(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n, uint32_t flags,
                  char *text, std::size_t size, const Run &run) {
  using qkv::status;
  using qkv::status_code;
  const auto call = [&]() -> status {
    if (!kernel) return {status_code::not_linked, "no kernel given"};
    if (n < 0)
      return qkv::detail::fail(status_code::wrong_count, "{}: {} arguments given but {} needed",
                               kernel->name, n, kernel->n_arguments);
    if (!arguments && n > 0)
      return qkv::detail::fail(status_code::wrong_count, "{}: {} arguments announced, none given",
                               kernel->name, n);
    if (flags & ~std::uint32_t{QKV_ACCUMULATE})
      return qkv::detail::fail(status_code::unsupported, "{}: there is no flag {:#x}", kernel->name,
                               flags & ~std::uint32_t{QKV_ACCUMULATE});
    qkv::options how;
    how.accumulate = flags & QKV_ACCUMULATE;
    return run(*kernel, {arguments, static_cast<std::size_t>(n)}, how);
  };
  const status s = call();
  if (text && size > 0) {
    const std::size_t length = std::min(std::strlen(s.text()), size - 1);
    std::memcpy(text, s.text(), length);
    text[length] = 0;
  }
  return static_cast<int>(s.code());
}

}  // namespace

struct qkv_saved {
  qkv::saved_steps steps;
};

namespace {

// `call`: save or use.
template <class Call>
int called_with(qkv_saved *saved, Call call, const qkv_kernel *kernel, const qkv_tensor *arguments,
                int32_t n, uint32_t flags, char *text, std::size_t size) {
  return called_from_c(
      kernel, arguments, n, flags, text, size,
      [&](const qkv_kernel &k, std::span<const qkv_tensor> all, const qkv::options &how) {
        return saved ? (saved->steps.*call)(k, all, how)
                     : qkv::detail::fail(qkv::status_code::null_data, "{}: no qkv_saved given",
                                         k.name);
      });
}

}  // namespace

extern "C" {

int qkv_call(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n, char *text,
             size_t size) {
  return qkv_call_with(kernel, arguments, n, 0, text, size);
}

int qkv_call_with(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n, uint32_t flags,
                  char *text, size_t size) {
  return called_from_c(kernel, arguments, n, flags, text, size,
                       [](const qkv_kernel &k, std::span<const qkv_tensor> all,
                          const qkv::options &how) { return qkv::run(k, all, how); });
}

qkv_saved *qkv_saved_new(void) { return new (std::nothrow) qkv_saved; }
void qkv_saved_free(qkv_saved *saved) { delete saved; }

int qkv_call_saving(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n,
                    uint32_t flags, qkv_saved *saved, char *text, size_t size) {
  return called_with(saved, &qkv::saved_steps::save, kernel, arguments, n, flags, text, size);
}

int qkv_call_saved(const qkv_kernel *gradient, const qkv_tensor *arguments, int32_t n,
                   uint32_t flags, qkv_saved *saved, char *text, size_t size) {
  return called_with(saved, &qkv::saved_steps::use, gradient, arguments, n, flags, text, size);
}

}  // extern "C"
