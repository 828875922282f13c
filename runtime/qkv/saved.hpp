// SPDX-License-Identifier: BSL-1.0
#pragma once
// The steps of a kernel that its gradient would compute again: the forward keeps them, the gradient
// reads them.
//
//   # step is gradient<mha>
//   qkv_add_kernels(my SPEC my.hpp KERNELS my::mha my::step SAVED my::step)
//
//   qkv::saved<my::mha> kept;
//   status s = qkv::call<my::mha>(kept, X, Wq, Wk, Wv, Wo, Y);
//   if (s) s = qkv::call<my::step>(kept, X, Wq, Wk, Wv, Wo, dY, dX, dWq, dWk, dWv, dWo);
//
// Without `kept`, the gradient computes the forward, too.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <qkv/call.hpp>
#include <qkv/core/gradient.hpp>
#include <qkv/extents.hpp>
#include <string_view>
#include <vector>

namespace qkv {

// The same without types. Movable; a call that is under way must end before it is moved or goes.
class saved_steps {
 public:
  saved_steps() noexcept;  // takes memory at its first call, as much as that one needs
  // Only this memory of the host, which must outlive it and be aligned as malloc aligns.
  saved_steps(void *memory, std::size_t bytes) noexcept;
  saved_steps(saved_steps &&) noexcept;
  saved_steps &operator=(saved_steps &&) noexcept;
  ~saved_steps();

  // Runs a kernel and keeps its steps, on the device where the call runs. Errors: those of
  // qkv::run(); not_linked (the library was built without SAVED), unsupported (another call uses
  // what is saved), misaligned and out_of_memory (the caller's memory), null_data (this object was
  // moved from). After an error nothing is saved.
  status save(const qkv_kernel &, std::span<const qkv_tensor> arguments,
              const options & = {}) noexcept;
  // Runs the gradient of that kernel. Several calls may read at once. Errors: those of qkv::run();
  // null_data (nothing is saved), wrong_version (of another kernel, or another build of it),
  // wrong_extent (of other sizes), unsupported (save() is under way).
  status use(const qkv_kernel &gradient, std::span<const qkv_tensor> arguments,
             const options & = {}) const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

struct axis_size {
  std::string_view axis;
  std::int64_t n;
};
// Bytes that a kernel saves for its gradient; an axis whose size follows from others may be left
// out. Errors: not_linked, wrong_extent (a size is missing), too_large.
status saved_bytes(const qkv_kernel &, std::span<const axis_size>, std::size_t &result) noexcept;

// Steps of one kernel.
template <auto Kernel>
class saved : public saved_steps {
 public:
  using saved_steps::saved_steps;
};

namespace detail {

template <auto Kernel, auto Of>
inline constexpr bool is_forward_of = std::is_same_v<kernel_type<Kernel>, kernel_type<Of>>;
template <class Kernel, class Of>
inline constexpr bool is_gradient_of_type = false;
template <class Of, str... Wanted>
inline constexpr bool is_gradient_of_type<gradient_t<false, Of, Wanted...>, Of> = true;
template <auto Kernel, auto Of>
inline constexpr bool saves_for =
    is_forward_of<Kernel, Of> || is_gradient_of_type<kernel_type<Kernel>, kernel_type<Of>>;
template <class Kernel, class Of, bool Fits>
struct saved_fits {
  static constexpr text why() {
    text t;
    if (Fits) return t;
    return t << "call<" << Kernel::name << ">: what is saved is of " << Of::name
             << "\nsaved<..> is of the kernel that is called, "
                "or of the one that it is the gradient of";
  }
};
template <auto Kernel, auto Of>
using saved_refusal =
    refusal<saved_fits<kernel_type<Kernel>, kernel_type<Of>, saves_for<Kernel, Of>>>;

// Adds the sizes that are given, from one axis of an argument on.
template <class Kernel, std::size_t Argument, std::size_t Axis, class Sizes>
void add_sizes(const Sizes &sizes, std::vector<axis_size> &all) {
  if constexpr (Argument < std::size(Kernel::arguments)) {
    constexpr const auto &shape = Kernel::arguments[Argument].shape;
    if constexpr (Axis < static_cast<std::size_t>(shape.n)) {
      constexpr const core::axis_data *axis = shape[Axis];
      if constexpr (axis->size < 0 && Sizes::template has<axis>)
        all.push_back({axis->name, sizes.template get<axis>()});
      add_sizes<Kernel, Argument, Axis + 1>(sizes, all);
    } else {
      add_sizes<Kernel, Argument + 1, 0>(sizes, all);
    }
  }
}

}  // namespace detail

// A kernel that keeps its steps, or its gradient that reads them: arguments as without. Errors:
// those of saved_steps.
template <auto Kernel, auto Of, class... Argument>
  requires(detail::saves_for<Kernel, Of> &&
           detail::callable<"call", Kernel, detail::part::all, Argument...>)
status call(const options &how, saved<Of> &kept, Argument &&...argument) {
  const qkv_kernel *table = nullptr;
  if (status s = detail::table_of<detail::kernel_type<Kernel>>(table); !s.ok()) return s;
  if constexpr (detail::is_forward_of<Kernel, Of>)
    return kept.save(*table, detail::descriptors(argument...), how);
  else
    return kept.use(*table, detail::descriptors(argument...), how);
}
template <auto Kernel, auto Of, class... Argument>
  requires(detail::saves_for<Kernel, Of> &&
           detail::callable<"call", Kernel, detail::part::all, Argument...>)
status call(saved<Of> &kept, Argument &&...argument) {
  return call<Kernel>(options{}, kept, argument...);
}
template <auto Kernel, auto Of, class... Argument,
          class Err = detail::call_refusal<"call", Kernel, detail::part::all, Argument...>>
  requires detail::saves_for<Kernel, Of>
Err call(saved<Of> &, Argument &&...);
template <auto Kernel, auto Of, class... Argument,
          class Err = detail::call_refusal<"call", Kernel, detail::part::all, Argument...>>
  requires detail::saves_for<Kernel, Of>
Err call(const options &, saved<Of> &, Argument &&...);
template <auto Kernel, auto Of, class... Argument, class Err = detail::saved_refusal<Kernel, Of>>
Err call(saved<Of> &, Argument &&...);
template <auto Kernel, auto Of, class... Argument, class Err = detail::saved_refusal<Kernel, Of>>
Err call(const options &, saved<Of> &, Argument &&...);

// saved_bytes<my::mha>(bytes, extents{extent<batch>(2), extent<seq>(100)}).
template <auto Kernel, class... E>
status saved_bytes(std::size_t &result, const extents<E...> &sizes) {
  const qkv_kernel *table = nullptr;
  if (status s = detail::table_of<detail::kernel_type<Kernel>>(table); !s.ok()) return s;
  std::vector<axis_size> given;
  detail::add_sizes<detail::kernel_type<Kernel>, 0, 0>(sizes, given);
  return saved_bytes(*table, given, result);
}

}  // namespace qkv
