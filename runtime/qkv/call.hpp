// SPDX-License-Identifier: BSL-1.0
#pragma once
// The typed call: qkv::call<my::mha>(X, Wq, Wk, Wv, Wo, bo, Y), or prepare<my::mha>(Wq, ..., bo)
// and then (X, Y).
#include <atomic>
#include <boost/hana/transform.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <qkv/run.hpp>
#include <qkv/signature.hpp>

namespace qkv {

namespace detail {

// The table of a kernel among those that are linked in, if it has this signature. Errors:
// not_linked, wrong_version.
status find_kernel(sv name, std::span<const argument_spec> signature,
                   const qkv_kernel *&result) noexcept;

// Increases whenever a library is registered or removed.
std::uint64_t registry_changes() noexcept;

// The same, looked up once per kernel, and again after libraries were registered or removed.
// Hidden: each shared library caches the tables of its own runtime, and can be unloaded.
template <class Kernel>
[[gnu::visibility("hidden")]] status table_of(const qkv_kernel *&result) noexcept {
  static std::atomic<const qkv_kernel *> known{nullptr};
  static std::atomic<std::uint64_t> found_at{0};
  constexpr std::uint64_t writing = ~std::uint64_t{0};
  const std::uint64_t now = registry_changes();
  std::uint64_t then = found_at.load(std::memory_order_acquire);
  result = known.load(std::memory_order_relaxed);
  if (then == now && result) return {};
  const status s = find_kernel(Kernel::name, signature_of<Kernel>, result);
  // A thread that looked earlier must not overwrite a later result.
  if (s.ok() && then < now && found_at.compare_exchange_strong(then, writing)) {
    known.store(result, std::memory_order_relaxed);
    found_at.store(now, std::memory_order_release);
  }
  return s;
}

// Tensors of any types as descriptors, in order.
template <class... Tensor>
std::array<qkv_tensor, sizeof...(Tensor)> descriptors(const Tensor &...t) {
  namespace hana = boost::hana;
  const auto all =
      hana::transform(hana::make_tuple(&t...), [](const auto *x) { return x->descriptor(); });
  return hana::unpack(all,
                      [](const auto &...x) { return std::array<qkv_tensor, sizeof...(x)>{x...}; });
}

template <auto Kernel>
using kernel_type = std::remove_cvref_t<decltype(Kernel)>;

template <str Verb, auto Kernel, part Part, class... Argument>
inline constexpr bool callable = passes<call_fits<Verb, kernel_type<Kernel>, Part, Argument...>>;
template <str Verb, auto Kernel, part Part, class... Argument>
using call_refusal = refusal<call_fits<Verb, kernel_type<Kernel>, Part, Argument...>>;

template <class... Argument>
inline constexpr bool begins_with_options = false;
template <class First, class... Argument>
inline constexpr bool begins_with_options<First, Argument...> =
    std::is_same_v<std::remove_cvref_t<First>, options>;

}  // namespace detail

// Runs a kernel on tensors in the order of its signature, outputs last. Dtypes, names and order of
// axes are checked by the compiler; sizes, strides and memory by the call: see qkv/run.hpp for its
// errors and its cost. The library that holds the kernel is found when it is first called.
template <auto Kernel, class... Argument>
  requires(!detail::begins_with_options<Argument...> &&
           detail::callable<"call", Kernel, detail::part::all, Argument...>)
status call(Argument &&...argument) {
  return call<Kernel>(options{}, argument...);
}
template <auto Kernel, class... Argument>
  requires detail::callable<"call", Kernel, detail::part::all, Argument...>
status call(const options &how, Argument &&...argument) {
  const qkv_kernel *table = nullptr;
  if (status s = detail::table_of<detail::kernel_type<Kernel>>(table); !s.ok()) return s;
  return run(*table, detail::descriptors(argument...), how);
}
template <auto Kernel, class... Argument,
          class Err = detail::call_refusal<"call", Kernel, detail::part::all, Argument...>>
  requires(!detail::begins_with_options<Argument...>)
Err call(Argument &&...);
template <auto Kernel, class... Argument,
          class Err = detail::call_refusal<"call", Kernel, detail::part::all, Argument...>>
Err call(const options &, Argument &&...);

// A kernel whose params are bound. Copies share the prepared params; several threads may call it at
// once.
template <auto Kernel>
class prepared_kernel {
 public:
  prepared_kernel(qkv::prepared params, qkv::status state)
      : params_(std::move(params)), state_(std::move(state)) {}

  // True if the params could be prepared; otherwise every call gives the same status.
  bool ok() const { return state_.ok(); }
  const qkv::status &status() const { return state_; }

  // Inputs, then outputs, in the order of the signature.
  template <class... Argument>
    requires(!detail::begins_with_options<Argument...> &&
             detail::callable<"prepared", Kernel, detail::part::rest, Argument...>)
  qkv::status operator()(Argument &&...argument) const {
    return (*this)(options{}, argument...);
  }
  template <class... Argument>
    requires detail::callable<"prepared", Kernel, detail::part::rest, Argument...>
  qkv::status operator()(const options &how, Argument &&...argument) const {
    return ok() ? params_.run(detail::descriptors(argument...), how) : state_;
  }
  template <class... Argument,
            class Err = detail::call_refusal<"prepared", Kernel, detail::part::rest, Argument...>>
    requires(!detail::begins_with_options<Argument...>)
  Err operator()(Argument &&...) const;
  template <class... Argument,
            class Err = detail::call_refusal<"prepared", Kernel, detail::part::rest, Argument...>>
  Err operator()(const options &, Argument &&...) const;

 private:
  qkv::prepared params_;
  qkv::status state_;
};

// Checks the params of a kernel, in the order of its signature, and packs them for the host or
// copies them to the device that the options name, on which all later calls run:
//   prepare<my::mha>({.on = device::cuda}, Wq, Wk, Wv, Wo)
// They may be freed or changed afterwards (those that lie on the device may not). Cost: one pass
// over the params, and the way to the device.
template <auto Kernel, class... Param>
  requires(!detail::begins_with_options<Param...> &&
           detail::callable<"prepare", Kernel, detail::part::params, Param...>)
prepared_kernel<Kernel> prepare(const Param &...param) {
  return prepare<Kernel>(options{}, param...);
}
template <auto Kernel, class... Param>
  requires detail::callable<"prepare", Kernel, detail::part::params, Param...>
prepared_kernel<Kernel> prepare(const options &how, const Param &...param) {
  prepared params;
  const qkv_kernel *table = nullptr;
  status s = detail::table_of<detail::kernel_type<Kernel>>(table);
  if (s.ok()) s = prepared::make(*table, detail::descriptors(param...), params, how);
  return {std::move(params), std::move(s)};
}
template <auto Kernel, class... Param,
          class Err = detail::call_refusal<"prepare", Kernel, detail::part::params, Param...>>
  requires(!detail::begins_with_options<Param...>)
Err prepare(const Param &...);
template <auto Kernel, class... Param,
          class Err = detail::call_refusal<"prepare", Kernel, detail::part::params, Param...>>
Err prepare(const options &, const Param &...);

// Number of bytes that a workspace needs for this call; see qkv/run.hpp.
template <auto Kernel, class... Argument>
  requires detail::callable<"call", Kernel, detail::part::all, Argument...>
status workspace_bytes(std::size_t &result, const options &how, Argument &&...argument) {
  const qkv_kernel *table = nullptr;
  if (status s = detail::table_of<detail::kernel_type<Kernel>>(table); !s.ok()) return s;
  return workspace_bytes(*table, detail::descriptors(argument...), result, how);
}

}  // namespace qkv
