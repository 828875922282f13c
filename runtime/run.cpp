#include <qkv/run.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <qkv/core/dtype.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "fail.hpp"
#include "invoke.hpp"
#include "libraries.hpp"

namespace qkv {

status run(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
           const options &how) noexcept {
  return detail::run(k, arguments, {}, how);
}

struct prepared::state {
  const qkv_kernel *kernel;
  // Registration of the kernel's library, if any: the kernel disappears with its library.
  std::uint64_t registration;
  std::string name;
  mutable std::atomic<std::uint64_t> seen;  // registry_changes() when the library was last found

  bool gone() const {
    if (registration == 0) return false;
    const std::uint64_t now = detail::registry_changes();
    if (seen.load(std::memory_order_relaxed) == now) return false;
    if (!detail::still_registered(kernel, registration)) return true;
    seen.store(now, std::memory_order_relaxed);
    return false;
  }

  std::vector<qkv_tensor>
      tensors;  // of the params; those of other arguments are filled in by the call
  std::vector<detail::bound_param> params;  // one for each argument
  std::vector<const detail::bound_param *> bound;
  workspace memory;
  std::vector<detail::borrowed> kept;
};

status prepared::make(const qkv_kernel &k, std::span<const qkv_tensor> params,
                      prepared &result) noexcept try {
  using detail::fail;
  const auto wanted = std::count_if(k.arguments, k.arguments + k.n_arguments,
                                    [](const qkv_argument &a) { return a.role == QKV_PARAM; });
  if (static_cast<std::ptrdiff_t>(params.size()) != wanted) {
    return fail(status_code::wrong_count, "{}: {} params given but there are {}", k.name,
                params.size(), wanted);
  }
  auto s = std::make_shared<state>();
  s->kernel = &k;
  s->seen = detail::registry_changes();
  s->registration = detail::registration_of(&k);
  s->name = k.name;
  s->tensors.resize(static_cast<std::size_t>(k.n_arguments));
  s->params.resize(s->tensors.size());
  s->bound.resize(s->tensors.size());
  s->kept.reserve(s->tensors.size());
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k.n_axes));
  if (status bad = detail::check_params(k, params, sizes); !bad) return bad;
  std::size_t next = 0;
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role != QKV_PARAM) continue;
    qkv_tensor &t = s->tensors[i] = params[next++];
    if (t.device != QKV_HOST) {
      if (a.pack < 0) continue;
      return fail(status_code::unsupported,
                  "{}: {} is on {}, but a param that is packed must be on the host", k.name, a.name,
                  detail::device_name(t.device));
    }
    detail::bound_param &p = s->params[i];
    p.packed = a.pack >= 0;
    std::int64_t elements = 1;
    for (int d = t.rank - 1; d >= 0; --d) elements *= t.extent[d];
    std::size_t bytes = static_cast<std::size_t>(elements * size_of(static_cast<dtype>(t.dtype)));
    if (p.packed) {
      if (status bad = detail::measure(k, a, t, p.layout); !bad) return bad;
      bytes = p.layout.bytes;
    }
    p.data = s->kept.emplace_back(s->memory, bytes).data();
    if (!p.data)
      return fail(status_code::out_of_memory, "{}: no memory for {} ({} bytes)", k.name, a.name,
                  bytes);
    if (p.packed) {
      if (status bad = detail::pack(k, a, t, p.layout, p.data); !bad) return bad;
    } else {
      detail::copy_dense(t, p.data);
    }
    t.data = p.data;
    std::int64_t dense = 1;
    for (int d = t.rank - 1; d >= 0; --d) {
      t.stride[d] = dense;
      dense *= t.extent[d];
    }
    s->bound[i] = &p;
  }
  result.state_ = std::move(s);
  return {};
} catch (...) {
  return detail::fail(status_code::out_of_memory, "{}: no memory for prepared params", k.name);
}

status prepared::run(std::span<const qkv_tensor> arguments, const options &how) const noexcept {
  if (!state_) return {status_code::not_linked, "a prepared kernel that was never made"};
  if (state_->gone())
    return detail::fail(status_code::not_linked,
                        "{}: its library was unloaded after it was prepared", state_->name);
  const qkv_kernel &k = *state_->kernel;
  try {
    std::vector<qkv_tensor> all = state_->tensors;
    std::size_t next = 0, wanted = 0;
    for (int i = 0; i < k.n_arguments; ++i) {
      if (k.arguments[i].role == QKV_PARAM) continue;
      ++wanted;
      if (next < arguments.size()) all[i] = arguments[next++];
    }
    if (wanted != arguments.size()) {
      return detail::fail(status_code::wrong_count,
                          "{}: {} arguments given but {} needed besides the params", k.name,
                          arguments.size(), wanted);
    }
    return detail::run(k, all, state_->bound, how);
  } catch (...) {
    return detail::fail(status_code::out_of_memory, "{}: no memory for the call itself", k.name);
  }
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
  if (status s = detail::invoke(k, all, sizes, {}, alone); !s) return s;
  // Every thread may hold at once what one thread needs at most; as much again for gaps between
  // blocks of several sizes.
  const int threads = how.threads > 0 ? how.threads : qkv::threads();
  result = 2 * memory.peak() * static_cast<std::size_t>(threads) + 4096;
  return {};
} catch (...) {
  return detail::fail(status_code::out_of_memory, "{}: no memory to measure the workspace", k.name);
}

}  // namespace qkv

extern "C" int qkv_call(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n,
                        char *text, size_t size) {
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
    return qkv::run(*kernel, {arguments, static_cast<std::size_t>(n)});
  };
  const status s = call();
  if (text && size > 0) {
    const std::size_t length = std::min(std::strlen(s.text()), size - 1);
    std::memcpy(text, s.text(), length);
    text[length] = 0;
  }
  return static_cast<int>(s.code());
}
