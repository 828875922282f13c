// SPDX-License-Identifier: BSL-1.0
#pragma once
// The signature of a kernel as a call sees it, and the errors when the arguments do not fit it.
#include <qkv/kernel.h>

#include <array>
// Before kernel.hpp: compilers print the includes that lead to it with every error.
#include <qkv/core/shape_error.hpp>

#include <qkv/core/kernel.hpp>
#include <qkv/tensor.hpp>

namespace qkv::detail {

// An argument of a kernel, or the argument given in its place.
struct argument_spec {
  sv name;
  int role = QKV_IN;
  dtype type = f32;
  axes shape{};
};

struct given_spec {
  bool tensor = false, writable = false;
  dtype type = f32;
  axes shape{};
};

template <class Kernel>
inline constexpr auto signature_of = [] {
  constexpr std::size_t inputs = std::size(Kernel::arguments), outputs = std::size(Kernel::outputs);
  std::array<argument_spec, inputs + outputs> all{};
  std::size_t n = 0;
  for (const argument &a : Kernel::arguments)
    all[n++] = {a.name, a.what == role::param ? QKV_PARAM : QKV_IN, a.type, a.shape};
  for (const argument &a : Kernel::outputs) all[n++] = {a.name, QKV_OUT, a.type, a.shape};
  return all;
}();

// The arguments that a call takes: all, the params, or the rest.
enum class part { all, params, rest };

constexpr bool in_part(part p, int role) {
  return p == part::all || (p == part::params) == (role == QKV_PARAM);
}

template <class Argument>
constexpr given_spec given_of() {
  using T = std::remove_cvref_t<Argument>;
  if constexpr (some_tensor<T>) {
    return {true,
            T::writable && (T::is_view || !std::is_const_v<std::remove_reference_t<Argument>>),
            T::type, T::shape};
  } else {
    return {};
  }
}

constexpr bool same_axes(const axes &a, const axes &b) {
  if (a.n != b.n) return false;
  for (int d = 0; d < a.n; ++d) {
    if (a[d]->name != b[d]->name || !same_size(a[d], b[d])) return false;
  }
  return true;
}

// K[batch, kv, d_k=64] of f64, on a line of its own
constexpr void show_operand(text &t, sv name, dtype type, const axes &shape) {
  t << "\n" << name << "[";
  for (int d = 0; d < shape.n; ++d) {
    t << (d ? ", " : "") << shape[d]->name;
    if (shape[d]->size >= 0) t << "=" << shape[d]->size;
  }
  t << "]";
  if (type != f32) t << " of " << name_of(type);
}

constexpr text misplaced(sv call, std::size_t place, const argument_spec &wanted,
                         const given_spec &given, const argument_spec *all, std::size_t n) {
  text t;
  t << call << ": argument " << static_cast<long>(place) << ": ";
  std::size_t other = n;  // an argument that this tensor would fit
  for (std::size_t i = n; i-- > 0;) {
    if (all[i].name != wanted.name && all[i].type == given.type &&
        same_axes(all[i].shape, given.shape))
      other = i;
  }
  if (other < n) {
    t << "what " << all[other].name << " takes, where " << wanted.name << " belongs";
  } else if (given.type != wanted.type && same_axes(given.shape, wanted.shape)) {
    t << wanted.name << " is " << name_of(wanted.type) << " but " << name_of(given.type)
      << " is given";
  } else {
    t << "this is not " << wanted.name;
  }
  show_operand(t, wanted.name, wanted.type, wanted.shape);
  show_operand(t, "given", given.type, given.shape);
  return t;
}

// Empty when the arguments fit.
constexpr text call_misfit(sv verb, sv kernel, part p, const argument_spec *all, std::size_t n,
                           const given_spec *given, std::size_t n_given) {
  text call, t;
  call << verb << "<" << kernel << ">";
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < n; ++i) wanted += in_part(p, all[i].role);
  if (n_given != wanted) {
    t << call << ": " << static_cast<long>(n_given) << " given, " << static_cast<long>(wanted)
      << " needed\n"
      << kernel << "(";
    const char *between = "";
    for (std::size_t i = 0; i < n; ++i) {
      if (!in_part(p, all[i].role)) continue;
      t << between << all[i].name;
      between = ", ";
    }
    return t << ")";
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!in_part(p, all[i].role)) continue;
    const given_spec &g = given[at++];
    if (!g.tensor) {
      t << call << ": argument " << static_cast<long>(at) << " is not a tensor";
      show_operand(t, all[i].name, all[i].type, all[i].shape);
      return t;
    }
    if (g.type != all[i].type || !same_axes(g.shape, all[i].shape))
      return misplaced(call.view(), at, all[i], g, all, n);
    if (all[i].role == QKV_OUT && !g.writable)
      return t << call << ": " << all[i].name << " is written, but const is given";
  }
  return t;
}

template <str Verb, class Kernel, part Part, class... Argument>
struct call_fits {
  static constexpr text why() {
    constexpr auto &all = signature_of<Kernel>;
    constexpr std::array<given_spec, sizeof...(Argument)> given{given_of<Argument>()...};
    return call_misfit(Verb.view(), Kernel::name, Part, all.data(), all.size(), given.data(),
                       given.size());
  }
};

}  // namespace qkv::detail
