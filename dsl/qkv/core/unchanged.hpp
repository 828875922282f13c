#pragma once
// A step is a value of functions: the operators that would change it, that of arrays, and the
// methods of other libraries' tensors are errors that name the replacement.
#include <qkv/core/message.hpp>
#include <qkv/core/shape_error.hpp>

namespace qkv::detail {

// T makes each check depend on its call, so that a step alone does not evaluate it.
template <class... T>
struct changed {
  static constexpr text why() {
    message m;
    return m.say("a step cannot be changed in place")
        .say("give the new one a name of its own: auto next = ..;");
  }
};

template <class... T>
struct indexed {
  static constexpr text why() {
    message m;
    return m.say("a step cannot be indexed with []").say("did you mean take<axis>(x, position)?");
  }
};

template <str Method, str Instead, class... T>
struct method {
  static constexpr text why() {
    message m;
    return m.say("a step has no ", Method.view()).say(Instead.view());
  }
};
template <str Method, str Instead, class... T>
using no_method = refusal<method<Method, Instead, T...>>;

}  // namespace qkv::detail

namespace qkv::core {

struct unchanged {
  template <class X, class Err = detail::refusal<detail::changed<X>>>
  Err operator=(const X &);
  template <class X, class Err = detail::refusal<detail::indexed<X>>>
  Err operator[](X) const;

  // Types in place of values: g++ prints them, clang this line.
  using T =
      detail::no_method<"T", "axes have names, not places: leave it out">;  // <== leave .T out
#define QKV_NO_METHOD(name, instead)                                              \
  template <class... X, class Err = detail::no_method<#name "()", instead, X...>> \
  Err name(X...) const;
  QKV_NO_METHOD(transpose, "axes have names, not places: leave it out")
  QKV_NO_METHOD(permute, "axes have names, not places: leave it out")
  QKV_NO_METHOD(swapaxes, "axes have names, not places: leave it out")
  QKV_NO_METHOD(view, "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?")
  QKV_NO_METHOD(reshape, "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?")
  QKV_NO_METHOD(dot, "did you mean dot<axis>(x, y)?")
  QKV_NO_METHOD(matmul, "did you mean dot<axis>(x, y)?")
  QKV_NO_METHOD(size, "did you mean size(axis)?")
  QKV_NO_METHOD(shape, "did you mean size(axis)?")
  QKV_NO_METHOD(expand, "did you mean broadcast<axis>(x)?")
  QKV_NO_METHOD(unsqueeze, "did you mean broadcast<axis>(x)?")
  QKV_NO_METHOD(softmax, "did you mean softmax<axis>(x)?")
  QKV_NO_METHOD(sum, "did you mean sum<axis>(x)?")
  QKV_NO_METHOD(mean, "did you mean mean<axis>(x)?")
  QKV_NO_METHOD(max, "did you mean max<axis>(x)?")
  QKV_NO_METHOD(to, "did you mean cast<f32>(x)?")
  QKV_NO_METHOD(masked_fill, "did you mean mask(scores, keep)?")
#undef QKV_NO_METHOD
};

}  // namespace qkv::core
