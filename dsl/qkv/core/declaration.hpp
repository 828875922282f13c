// SPDX-License-Identifier: BSL-1.0
#pragma once
// The declarations in the signature of a kernel, and their checks.
#include <array>

#include <qkv/core/names.hpp>
#include <qkv/core/signature.hpp>

namespace qkv::core {

enum class role : unsigned char { in, param, out };

// An argument or a result, as the signature declares it.
struct argument {
  sv name;
  role what = role::in;
  dtype type = f32;
  axes shape{};
};

}  // namespace qkv::core

namespace qkv::detail {

// Mistakes in the list of axes of one argument.
struct slips {
  maybe_axis twice{};  // an axis that it names twice
  bool stray = false;  // it has an entry that is neither an axis nor a dtype, or a second dtype
};

template <class T>
struct argument_of {
  static constexpr bool ok = false;
  static constexpr argument value{};
  static constexpr slips wrong{};
};
template <class W, const info &F>
struct argument_of<expr<W, F>> {
  static constexpr bool ok = F.m.given || F.m.param;
  static constexpr argument value{F.label, F.m.param ? role::param : role::in, F.m.type, F.s};
  static constexpr slips wrong{F.m.fault.twice, F.m.fault.stray};
};
template <str N, auto... A>
struct argument_of<out<N, A...>> {
  static constexpr bool ok = false;
  static constexpr argument value{N.view(), role::out, out<N, A...>::type, out<N, A...>::shape};
  static constexpr slips wrong{out<N, A...>::declared.twice, out<N, A...>::declared.stray};
};

template <class T>
struct results_of {
  static constexpr bool ok = false;
};
template <str N, auto... A>
struct results_of<out<N, A...>> {
  static constexpr bool ok = true;
  static constexpr std::array<argument, 1> value{argument_of<out<N, A...>>::value};
  static constexpr std::array<slips, 1> wrong{argument_of<out<N, A...>>::wrong};
};
template <class... Out>
struct results_of<outs<Out...>> {
  static constexpr bool ok = (results_of<Out>::ok && ...);
  static constexpr std::array<argument, sizeof...(Out)> value{argument_of<Out>::value...};
  static constexpr std::array<slips, sizeof...(Out)> wrong{argument_of<Out>::wrong...};
};

// std::pair<out<..>, out<..>>
template <class T>
inline constexpr bool lists_results = false;
template <template <class...> class List, class... Out>
inline constexpr bool lists_results<List<Out...>> = (results_of<Out>::ok || ...);

// Checks N declared arguments and results, each against all before it.
template <std::size_t N>
struct declaration_check {
  static constexpr std::size_t n_slots = 2 * N + 1;
  static constexpr std::size_t max_seen = max_axes * N + 1;

  sv kernel;
  message &m;
  unsigned long named[n_slots]{};     // keys of the names, each near its place: quick also for many
  const axis_data *axis[max_seen]{};  // those seen so far
  const argument *carrier[max_seen]{};  // who brought the axis in the same place
  std::size_t n_axes = 0;

  template <class... T>
  constexpr bool fail(T... words) {
    m.say("kernel ", kernel, ": ", words...);
    return false;
  }

  constexpr bool add(const argument &a, const slips &wrong) {
    if (bad_name(m, "argument", a.name)) return false;
    const unsigned long key = key_of(a.name);
    std::size_t slot = key % n_slots;
    for (; named[slot]; slot = (slot + 1) % n_slots)
      if (named[slot] == key) return fail("two arguments are named ", a.name);
    named[slot] = key;
    if (wrong.stray) {
      fail(a.name, " names what is neither an axis nor a type");
      m.say("axes have names: axis<.., 64> or batch_axis<..>, and one type is enough");
      return false;
    }
    if (wrong.twice) {
      const sv ax = wrong.twice->name;
      fail(a.name, " names axis ", ax, " twice");
      const axis_data *other = nullptr;
      for (std::size_t i = 0; i < n_axes; ++i)
        if (!a.shape.has(axis[i]) && same_name(root_of(axis[i]), root_of(wrong.twice.at)))
          other = axis[i];
      if (other)
        m.say("did you mean ", other->name, " for one of them?");
      else
        m.say("one of them is another axis: an alias<.., ", ax, ">");
      return false;
    }
    if (a.shape.too_many()) return fail(a.name, " has more than ", long{max_axes}, " axes");
    for (const axis_data *x : a.shape) {
      if (bad_name(m, "axis", x->name)) return false;
      if (x->size != runtime && x->size < 1)
        return fail("axis ", x->name, " is ", x->size, "; a size is at least 1");
      if (!same_everywhere(x, a)) return false;
    }
    return true;
  }

  constexpr bool same_everywhere(const axis_data *x, const argument &a) {
    for (std::size_t i = 0; i < n_axes; ++i) {
      const axis_data *y = axis[i];
      if (!same_name(x, y)) continue;
      if (same_size(x, y) && x->batch == y->batch) return true;
      if (x->size == y->size) return fail("two different axes are named ", x->name);
      return fail("axis ", x->name, " is ", size_of_axis(y), " in ", carrier[i]->name, " but ",
                  size_of_axis(x), " in ", a.name);
    }
    axis[n_axes] = x;
    carrier[n_axes++] = &a;
    return true;
  }
};

// Params are made ready before the calls: a size that each call decides cannot be one param's
// alone.
template <class Arguments>
constexpr bool lone_param(message &m, sv kernel, const Arguments &arguments) {
  for (const argument &a : arguments)
    for (const axis_data *x : a.shape) {
      if (a.what != role::param || !x->batch || x->size >= 0) continue;
      int carriers = 0;
      for (const argument &b : arguments) carriers += b.what == role::param && b.shape.has(x);
      if (carriers > 1) continue;
      m.say("kernel ", kernel, ": param ", a.name, " varies along batch axis ", x->name,
            ", whose size each call decides")
          .say("did you mean in<", a.name, ", ..>, or a size for ", x->name, "?")
          .show_shape(a.name, a.shape);
      return true;
    }
  return false;
}

template <class Call>
struct signature;

// True if the body can be traced. A body with an error of its own cannot: one error is enough.
template <class F, int = (signature<decltype(&F::operator())>::trace().size(), 0)>
consteval bool can_be_traced(int) {
  return true;
}
template <class F>
consteval bool can_be_traced(...) {
  return false;
}

template <str Name, class F>
struct kernel_check {
  static constexpr text why() {
    message m;
    if (bad_kernel_name(m, Name.view())) return m;
    if constexpr (!requires { &F::operator(); }) {
      m.say("kernel ", Name.view(), ": every argument needs a type")
          .say("write in<...> or param<...> instead of auto");
    } else if constexpr (!std::is_empty_v<F> || !std::is_default_constructible_v<F>) {
      m.say("kernel ", Name.view(), ": the lambda must not capture");
    } else if constexpr (!requires { signature<decltype(&F::operator())>::arguments; }) {
      m.say("kernel ", Name.view(), ": the lambda must be neither mutable nor noexcept");
    } else {
      using declared = signature<decltype(&F::operator())>;
      if constexpr (!declared::check_kinds(Name.view()).empty()) {
        return declared::check_kinds(Name.view());
      } else if constexpr (!declared::check_arguments(Name.view()).empty()) {
        if (can_be_traced<F>(0)) return declared::check_arguments(Name.view());
      }
    }
    return m;
  }
};

struct unnamed_kernel {
  static constexpr text why() {
    message m;
    return m.say("kernel: the name belongs in <>").say("did you mean kernel<\"name\">(..)?");
  }
};

}  // namespace qkv::detail
