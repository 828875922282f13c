// SPDX-License-Identifier: BSL-1.0
#pragma once
// gradient<my::mha>, value_and_gradient<my::loss>: the backward of a kernel, as a kernel.
#include <qkv/core/kernel.hpp>
#include <qkv/core/types.hpp>

namespace qkv {
namespace detail {

template <class T>
inline constexpr bool is_kernel = false;
template <str Name, class F>
inline constexpr bool is_kernel<kernel_t<Name, F>> = true;

constexpr label_text prefixed(sv name) { return label_text() << "d" << name; }

// HasResults: the results of the kernel come before the gradients.
template <bool HasResults, class Kernel, str... Wanted>
struct gradient_signature {
  static constexpr sv word = HasResults ? "value_and_gradient" : "gradient";
  static constexpr std::size_t n_arguments = std::size(Kernel::arguments),
                               n_values = HasResults ? std::size(Kernel::outputs) : 0;

  // Those that are named, or all of floating type.
  static constexpr bool is_wanted(const argument &a) {
    const bool named = sizeof...(Wanted) == 0 || ((a.name == Wanted.view()) || ...);
    return named && is_float(a.type);
  }
  template <class List>
  static constexpr std::size_t count(const List &list, bool (*one)(const argument &)) {
    std::size_t n = 0;
    for (const argument &a : list) n += one(a);
    return n;
  }
  static constexpr bool is_floating(const argument &a) { return is_float(a.type); }

  static constexpr std::size_t n_adjoints = count(Kernel::outputs, is_floating);
  static constexpr std::size_t n_results = count(Kernel::arguments, is_wanted);

  static constexpr label_text name = label_text() << Kernel::name << "_" << word;
  template <std::size_t N, class List>
  static constexpr std::array<label_text, N> names(const List &list,
                                                   bool (*one)(const argument &)) {
    std::array<label_text, N> r{};
    std::size_t n = 0;
    for (const argument &a : list)
      if (one(a)) r[n++] = prefixed(a.name);
    return r;
  }
  static constexpr auto adjoint_names = names<n_adjoints>(Kernel::outputs, is_floating);
  static constexpr auto result_names = names<n_results>(Kernel::arguments, is_wanted);

  static constexpr auto arguments = [] {
    std::array<argument, n_arguments + n_adjoints> r{};
    std::size_t n = 0, adjoint = 0;
    for (const argument &a : Kernel::arguments) r[n++] = a;
    for (const argument &a : Kernel::outputs)
      if (is_floating(a)) r[n++] = {adjoint_names[adjoint++].view(), role::in, a.type, a.shape};
    return r;
  }();
  static constexpr auto outputs = [] {
    std::array<argument, n_values + n_results> r{};
    std::size_t n = 0, gradient = 0;
    if constexpr (HasResults)
      for (const argument &a : Kernel::outputs) r[n++] = a;
    for (const argument &a : Kernel::arguments)
      if (is_wanted(a)) r[n++] = {result_names[gradient++].view(), role::out, a.type, a.shape};
    return r;
  }();
};

}  // namespace detail

// A kernel that is derived from another.
template <bool HasResults, class Kernel, str... Wanted>
struct gradient_t {
  using of = Kernel;
  using signature = detail::gradient_signature<HasResults, Kernel, Wanted...>;
  static constexpr std::array<core::sv, sizeof...(Wanted)> wanted{Wanted.view()...};
  static constexpr core::sv name = signature::name.view();
  static constexpr auto arguments = signature::arguments;
  static constexpr auto outputs = signature::outputs;
};

namespace detail {

template <class T>
inline constexpr bool is_derived = false;
template <bool HasResults, class Kernel, str... Wanted>
inline constexpr bool is_derived<gradient_t<HasResults, Kernel, Wanted...>> = true;

template <bool HasResults, class Kernel, str... Wanted>
struct gradient_check {
  static constexpr sv word = HasResults ? "value_and_gradient" : "gradient";
  static constexpr text why() {
    message m;
    if constexpr (is_derived<Kernel>) {
      m.say(word, "<", Kernel::name, ">: it is a gradient itself")
          .say("gradients of gradients are not derived");
    } else if constexpr (!is_kernel<Kernel>) {
      m.say(word, "<..>: this is not a kernel").say("did you mean ", word, "<my::kernel>?");
    } else {
      check_names(m);
    }
    return m;
  }

 private:
  static constexpr void check_names(message &m) {
    using signature = gradient_signature<HasResults, Kernel, Wanted...>;
    for (sv name : {sv(), Wanted.view()...})
      if (!name.empty() && say_unknown(m, name)) return;
    if (signature::n_results == 0)
      m.say(word, "<", Kernel::name, ">: none of its arguments has a floating type");
    if (signature::n_adjoints == 0)
      m.say(word, "<", Kernel::name, ">: none of its results has a floating type");
    if (!m.empty()) return;
    for (const argument &a : signature::arguments)
      for (const label_text &b : signature::result_names)
        if (a.name == b.view()) return say_clash(m, b.view());
    for (const argument &a : Kernel::outputs)
      for (const label_text &b : signature::result_names)
        if (HasResults && a.name == b.view()) return say_clash(m, b.view());
    for (const argument &a : Kernel::arguments)
      for (const label_text &b : signature::adjoint_names)
        if (a.name == b.view()) return say_clash(m, b.view());
  }
  static constexpr bool say_unknown(message &m, sv name) {
    for (const argument &a : Kernel::arguments) {
      if (a.name != name) continue;
      if (is_float(a.type)) return false;
      m.say(word, "<", Kernel::name, ">: ", name, " is ", name_of(a.type),
            ", which has no gradient");
      return true;
    }
    m.say(word, "<", Kernel::name, ">: ", Kernel::name, " has no argument ", name);
    return true;
  }
  static constexpr void say_clash(message &m, sv name) {
    m.say(word, "<", Kernel::name, ">: two arguments are named ", name)
        .say("it adds d to the name of each argument and result: choose another name for one");
  }
};

// Takes the place of a gradient that is refused. Its copy is the error, on the user's line: with
// g++ an object of the incomplete class with the text, with clang one that cannot be copied.
#if defined(__clang__)
template <class Err>
struct not_copied {
  constexpr not_copied() {}
  not_copied(const not_copied &) = delete;
};
template <class Err>
inline constexpr not_copied<Err> no_gradient{};
#else
template <class Err>
extern const Err no_gradient;
#endif

template <bool HasResults, class Kernel, str... Wanted>
struct gradient_of {
  static constexpr const auto &value =
      no_gradient<refusal<gradient_check<HasResults, Kernel, Wanted...>>>;
};
template <bool HasResults, class Kernel, str... Wanted>
  requires passes<gradient_check<HasResults, Kernel, Wanted...>>
struct gradient_of<HasResults, Kernel, Wanted...> {
  static constexpr gradient_t<HasResults, Kernel, Wanted...> value{};
};

}  // namespace detail

// The gradient of the sum of all results times their adjoints: gradient<my::mha>, or
// gradient<my::mha, "X", "Wq"> for some arguments alone.
// Arguments: those of the kernel, then d<result> for each result of floating type.
// Results:   d<argument> for each argument of floating type, or for those named.
// Name:      <kernel>_gradient.
// Errors:    names that clash, an argument that is not there or of whole numbers, the gradient of a
//            gradient; a step without a rule is an error of the build.
template <auto Kernel, str... Wanted>
inline constexpr const auto &gradient =
    detail::gradient_of<false, std::remove_cvref_t<decltype(Kernel)>, Wanted...>::value;

// The same with the results of the kernel before the gradients, from one call: a loss and its
// slopes, say. Name: <kernel>_value_and_gradient.
template <auto Kernel, str... Wanted>
inline constexpr const auto &value_and_gradient =
    detail::gradient_of<true, std::remove_cvref_t<decltype(Kernel)>, Wanted...>::value;

}  // namespace qkv
