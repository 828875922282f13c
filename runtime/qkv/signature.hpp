#pragma once
// The signature of a kernel as a call sees it, and what is said when the arguments do not fit it.
#include <qkv/kernel.h>

#include <array>
#include <qkv/core/rule.hpp>
#include <qkv/tensor.hpp>

namespace qkv::detail {

// An argument of a kernel, or what was given in its place.
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
  for (const auto &a : Kernel::arguments)
    all[n++] = {a.name, a.param ? QKV_PARAM : QKV_IN, a.type, a.shape};
  for (const auto &a : Kernel::outputs) all[n++] = {a.name, QKV_OUT, a.type, a.shape};
  return all;
}();

// Which arguments a call takes: all, the params, or the rest.
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

constexpr message &show(message &m, sv name, dtype type, const axes &shape) {
  m.show(name, shape);
  if (type != f32) m << " of " << name_of(type);
  return m;
}

constexpr text misplaced(sv call, const argument_spec &wanted, const given_spec &given,
                         const argument_spec *all, std::size_t n) {
  message m;
  for (std::size_t i = 0; i < n; ++i) {
    if (all[i].name != wanted.name && all[i].type == given.type &&
        same_axes(all[i].shape, given.shape)) {
      m.say(call, ": ", all[i].name, " where ", wanted.name, " belongs");
      break;
    }
  }
  if (m.empty() && given.type != wanted.type && same_axes(given.shape, wanted.shape)) {
    m.say(call, ": ", wanted.name, " is ", name_of(wanted.type), " but ", name_of(given.type),
          " is given");
  }
  if (m.empty()) m.say(call, ": this is not ", wanted.name);
  show(m, wanted.name, wanted.type, wanted.shape);
  return show(m, "given", given.type, given.shape);
}

// Empty when the arguments fit.
constexpr text call_misfit(sv verb, sv kernel, part p, const argument_spec *all, std::size_t n,
                           const given_spec *given, std::size_t n_given) {
  text call;
  call << verb << "<" << kernel << ">";
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < n; ++i) wanted += in_part(p, all[i].role);
  message m;
  if (n_given != wanted) {
    m.say(call, ": ", static_cast<long>(n_given), " given, ", static_cast<long>(wanted), " needed")
        .say(kernel, "(");
    const char *between = "";
    for (std::size_t i = 0; i < n; ++i) {
      if (!in_part(p, all[i].role)) continue;
      m << between << all[i].name;
      between = ", ";
    }
    m << ")";
    return m;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!in_part(p, all[i].role)) continue;
    const given_spec &g = given[at++];
    if (!g.tensor)
      return m.say(call, ": argument ", static_cast<long>(at), " is no tensor")
          .show(all[i].name, all[i].shape);
    if (g.type != all[i].type || !same_axes(g.shape, all[i].shape))
      return misplaced(call.view(), all[i], g, all, n);
    if (all[i].role == QKV_OUT && !g.writable)
      return m.say(call, ": ", all[i].name, " is written, but const is given");
  }
  return m;
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
