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

  // A type in place of a value: g++ prints it, clang this line.
  using T = detail::no_method<"T", "axes have names: leave it out">;  // <== leave .T out
  template <class... X, class Err = detail::no_method<
                            "transpose()", "axes have names, not places: leave it out", X...>>
  Err transpose(X...) const;
  template <class... X, class Err = detail::no_method<
                            "permute()", "axes have names, not places: leave it out", X...>>
  Err permute(X...) const;
  template <class... X, class Err = detail::no_method<
                            "swapaxes()", "axes have names, not places: leave it out", X...>>
  Err swapaxes(X...) const;
  template <
      class... X,
      class Err = detail::no_method<
          "view()", "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?", X...>>
  Err view(X...) const;
  template <
      class... X,
      class Err = detail::no_method<
          "reshape()", "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?", X...>>
  Err reshape(X...) const;
  template <class... X,
            class Err = detail::no_method<"dot()", "did you mean dot<axis>(x, y)?", X...>>
  Err dot(X...) const;
  template <class... X,
            class Err = detail::no_method<"matmul()", "did you mean dot<axis>(x, y)?", X...>>
  Err matmul(X...) const;
  template <class... X, class Err = detail::no_method<"size()", "did you mean size(axis)?", X...>>
  Err size(X...) const;
  template <class... X, class Err = detail::no_method<"shape()", "did you mean size(axis)?", X...>>
  Err shape(X...) const;
  template <class... X,
            class Err = detail::no_method<"expand()", "did you mean broadcast<axis>(x)?", X...>>
  Err expand(X...) const;
  template <class... X,
            class Err = detail::no_method<"unsqueeze()", "did you mean broadcast<axis>(x)?", X...>>
  Err unsqueeze(X...) const;
  template <class... X,
            class Err = detail::no_method<"softmax()", "did you mean softmax<axis>(x)?", X...>>
  Err softmax(X...) const;
  template <class... X, class Err = detail::no_method<"sum()", "did you mean sum<axis>(x)?", X...>>
  Err sum(X...) const;
  template <class... X,
            class Err = detail::no_method<"mean()", "did you mean mean<axis>(x)?", X...>>
  Err mean(X...) const;
  template <class... X, class Err = detail::no_method<"max()", "did you mean max<axis>(x)?", X...>>
  Err max(X...) const;
  template <class... X, class Err = detail::no_method<"to()", "did you mean cast<f32>(x)?", X...>>
  Err to(X...) const;
  template <class... X, class Err = detail::no_method<"masked_fill()",
                                                      "did you mean mask(scores, keep)?", X...>>
  Err masked_fill(X...) const;
};

}  // namespace qkv::core
