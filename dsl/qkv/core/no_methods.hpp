// SPDX-License-Identifier: BSL-1.0
#pragma once
// The methods of other libraries' tensors: of a step, each is an error that names the form here.
#include <qkv/core/message.hpp>
#include <qkv/core/shape_error.hpp>

namespace qkv::detail {

// X makes each check depend on its call, so that a step alone does not evaluate it.
template <str Method, str Instead, class... X>
struct method {
  static constexpr text why() {
    message m;
    return m.say("a step has no ", Method.view()).say(Instead.view());
  }
};
template <str Method, str Instead, class... X>
using no_method = refusal<method<Method, Instead, X...>>;

template <str Method, class... X>
using no_order = no_method<Method, "axes have names, not places: leave it out", X...>;
template <str Method, class... X>
using no_parts =
    no_method<Method, "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?", X...>;
template <str Method, class... X>
using no_product = no_method<Method, "did you mean dot<axis>(x, y)?", X...>;
template <str Method, class... X>
using no_size = no_method<Method, "did you mean size(axis)?", X...>;
template <str Method, class... X>
using no_repetition = no_method<Method, "did you mean broadcast<axis>(x)?", X...>;

}  // namespace qkv::detail

namespace qkv::core {

struct no_methods {
  // A type in place of a value: g++ prints it, clang this line.
  using T = detail::no_method<"T", "axes have names: leave it out">;  // <== leave .T out
  template <class... X, class Err = detail::no_order<"transpose()", X...>>
  Err transpose(X...) const;
  template <class... X, class Err = detail::no_order<"permute()", X...>>
  Err permute(X...) const;
  template <class... X, class Err = detail::no_order<"swapaxes()", X...>>
  Err swapaxes(X...) const;
  template <class... X, class Err = detail::no_parts<"view()", X...>>
  Err view(X...) const;
  template <class... X, class Err = detail::no_parts<"reshape()", X...>>
  Err reshape(X...) const;
  template <class... X, class Err = detail::no_product<"dot()", X...>>
  Err dot(X...) const;
  template <class... X, class Err = detail::no_product<"matmul()", X...>>
  Err matmul(X...) const;
  template <class... X, class Err = detail::no_size<"size()", X...>>
  Err size(X...) const;
  template <class... X, class Err = detail::no_size<"shape()", X...>>
  Err shape(X...) const;
  template <class... X, class Err = detail::no_repetition<"expand()", X...>>
  Err expand(X...) const;
  template <class... X, class Err = detail::no_repetition<"unsqueeze()", X...>>
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
                                                      "did you mean mask(scores, !hidden)?", X...>>
  Err masked_fill(X...) const;
};

}  // namespace qkv::core
