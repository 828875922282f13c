// SPDX-License-Identifier: BSL-1.0
#pragma once
// Functions of other libraries. A call with a step is an error that names the form here. Only the
// lookup by argument finds them, so they hide no function of a user.
#include <qkv/core/call.hpp>

namespace qkv::detail {

template <str Function, str Instead, class... X>
struct function_elsewhere {
  static constexpr text why() {
    message m;
    return m.say("there is no ", Function.view(), " here").say(Instead.view());
  }
};
template <str Function, str Instead, class... X>
using no_function = refusal<function_elsewhere<Function, Instead, X...>>;

// X: the types of the operands; names the axis if they share one.
template <str Function, class... X>
struct product_elsewhere {
  static constexpr text why() {
    message m;
    m.say("there is no ", Function.view(), " here").say("did you mean dot<");
    if constexpr (sizeof...(X) == 2 && (traced<X> && ...)) {
      const info operands[] = {of<X>...};
      const info &l = operands[0], &r = operands[1];
      const axes both = l.s.common(r.s).non_batch();
      if (both.n == 1) return m << both << ">(" << l.label << ", " << r.label << ")?", m.show(l, r);
    }
    return m << "axis>(x, y)?", m;
  }
};
template <str Function, class... X>
using no_matrices = refusal<product_elsewhere<Function, X...>>;

template <str Function, class... X>
using no_places = no_function<Function, "axes have names, not places: leave it out", X...>;
template <str Function, class... X>
using no_shapes =
    no_function<Function, "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?",
                X...>;
template <str Function, class... X>
using no_copies =
    no_function<Function, "leave it out: axes meet by name; or did you mean broadcast<axis>(x)?",
                X...>;
template <str Function, class... X>
using no_joining = no_function<Function, "did you mean concat<whole>(x, y)?", X...>;
template <str Function, class... X>
using no_triangle =
    no_function<Function, "causal<queries, keys> keeps the earlier keys: mask(scores, causal<..>)",
                X...>;

}  // namespace qkv::detail

namespace qkv::core {

template <detail::given... Ax, class... X, class Err = detail::no_matrices<"matmul", X...>>
Err matmul(X...);
template <detail::given... Ax, class... X, class Err = detail::no_matrices<"bmm", X...>>
Err bmm(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"einsum", "did you mean dot<axis>(x, y)?", X...>>
Err einsum(X...);
template <detail::given... Ax, class... X, class Err = detail::no_places<"transpose", X...>>
Err transpose(X...);
template <detail::given... Ax, class... X, class Err = detail::no_places<"permute", X...>>
Err permute(X...);
template <detail::given... Ax, class... X, class Err = detail::no_places<"swapaxes", X...>>
Err swapaxes(X...);
template <detail::given... Ax, class... X, class Err = detail::no_shapes<"reshape", X...>>
Err reshape(X...);
template <detail::given... Ax, class... X, class Err = detail::no_shapes<"view", X...>>
Err view(X...);
template <detail::given... Ax, class... X, class Err = detail::no_copies<"unsqueeze", X...>>
Err unsqueeze(X...);
template <detail::given... Ax, class... X, class Err = detail::no_copies<"expand", X...>>
Err expand(X...);
template <detail::given... Ax, class... X, class Err = detail::no_copies<"repeat", X...>>
Err repeat(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<
              "repeat_interleave", "did you mean grouped_query, or broadcast<axis>(x)?", X...>>
Err repeat_interleave(X...);
template <detail::given... Ax, class... X, class Err = detail::no_joining<"cat", X...>>
Err cat(X...);
template <detail::given... Ax, class... X, class Err = detail::no_joining<"stack", X...>>
Err stack(X...);
template <detail::given... Ax, class... X, class Err = detail::no_triangle<"tril", X...>>
Err tril(X...);
template <detail::given... Ax, class... X, class Err = detail::no_triangle<"triu", X...>>
Err triu(X...);
template <
    detail::given... Ax, class... X,
    class Err = detail::no_function<"masked_fill", "did you mean mask(scores, !hidden)?", X...>>
Err masked_fill(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"log_softmax",
                                          "did you mean scores - logsumexp<axis>(scores)?", X...>>
Err log_softmax(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"linear",
                                          "did you mean project<axis>(x, with_bias(W, b))?", X...>>
Err linear(X...);
template <
    detail::given... Ax, class... X,
    class Err = detail::no_function<"embedding", "did you mean take<axis>(table, ids)?", X...>>
Err embedding(X...);
template <
    detail::given... Ax, class... X,
    class Err = detail::no_function<"scaled_dot_product_attention",
                                    "did you mean scaled_dot_product<d_k, kv>(Q, K, V)?", X...>>
Err scaled_dot_product_attention(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"clamp", "did you mean min(max(x, low), high)?", X...>>
Err clamp(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<
              "norm", "did you mean sqrt(sum<axis>(x * x)) or unit_length<axis>(x)?", X...>>
Err norm(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"square", "did you mean x * x?", X...>>
Err square(X...);

template <
    detail::given... Ax, class... X,
    class Err = detail::no_function<
        "rearrange", "did you mean split<whole, parts..>(x) or merge<whole, parts..>(x)?", X...>>
Err rearrange(X...);
template <detail::given... Ax, class... X, class Err = detail::no_joining<"concatenate", X...>>
Err concatenate(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"gather", "did you mean take<axis>(x, positions)?", X...>>
Err gather(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<"logsigmoid", "did you mean -softplus(-x)?", X...>>
Err logsigmoid(X...);
template <detail::given... Ax, class... X,
          class Err = detail::no_function<
              "cross_entropy",
              "did you mean logsumexp<axis>(logits) - take<axis>(logits, targets)?", X...>>
Err cross_entropy(X...);

}  // namespace qkv::core
