#pragma once
// Declared only: calls that fit no operation, for errors that say what to write.
#include <qkv/core/wrong_call.hpp>

namespace qkv {

// softmax(s, kv), mask(s, sliding_window<seq, kv>)
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"broadcast", axes_of<Ax...>(), T...>>>
Err broadcast(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"concat", axes_of<Ax...>(), T...>>>
Err concat(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"cumsum", axes_of<Ax...>(), T...>>>
Err cumsum(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"dot", axes_of<Ax...>(), T...>>>
Err dot(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"logsumexp", axes_of<Ax...>(), T...>>>
Err logsumexp(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"mask", axes_of<Ax...>(), T...>>>
Err mask(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"mask_rows", axes_of<Ax...>(), T...>>>
Err mask_rows(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"max", axes_of<Ax...>(), T...>>>
Err max(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"mean", axes_of<Ax...>(), T...>>>
Err mean(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"merge", axes_of<Ax...>(), T...>>>
Err merge(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"min", axes_of<Ax...>(), T...>>>
Err min(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"normalize", axes_of<Ax...>(), T...>>>
Err normalize(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"rename", axes_of<Ax...>(), T...>>>
Err rename(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"softmax", axes_of<Ax...>(), T...>>>
Err softmax(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"split", axes_of<Ax...>(), T...>>>
Err split(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"sum", axes_of<Ax...>(), T...>>>
Err sum(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"take", axes_of<Ax...>(), T...>>>
Err take(T...);
template <an_axis auto... Ax, class... T,
          class Err = detail::refusal<detail::stray_axes<"uniform", axes_of<Ax...>(), T...>>>
Err uniform(T...);

// softmax<"kv">(s)
template <str... Ax, class... T,
          class Err = detail::refusal<detail::quoted_axes<"broadcast", Ax...>>>
Err broadcast(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"concat", Ax...>>>
Err concat(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"cumsum", Ax...>>>
Err cumsum(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"dot", Ax...>>>
Err dot(T...);
template <str... Ax, class... T,
          class Err = detail::refusal<detail::quoted_axes<"logsumexp", Ax...>>>
Err logsumexp(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"max", Ax...>>>
Err max(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"mean", Ax...>>>
Err mean(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"merge", Ax...>>>
Err merge(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"min", Ax...>>>
Err min(T...);
template <str... Ax, class... T,
          class Err = detail::refusal<detail::quoted_axes<"normalize", Ax...>>>
Err normalize(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"rename", Ax...>>>
Err rename(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"softmax", Ax...>>>
Err softmax(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"split", Ax...>>>
Err split(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"sum", Ax...>>>
Err sum(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"take", Ax...>>>
Err take(T...);
template <str... Ax, class... T, class Err = detail::refusal<detail::quoted_axes<"uniform", Ax...>>>
Err uniform(T...);

// mask(scores, a, b)
template <traced X, traced... Keep, class Err = detail::refusal<detail::joined_masks<Keep...>>>
Err mask(X, Keep...);

}  // namespace qkv
