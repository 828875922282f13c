// SPDX-License-Identifier: BSL-1.0
// The signature of a gradient follows from that of its kernel.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr auto scores = kernel<"scores">(
    [](in<"Q", batch, seq, d_k> q, in<"K", bf16, batch, kv, d_k> k, in<"keep", b8, batch, kv> keep,
       param<"scale"> scale) -> outs<out<"S", batch, seq, kv>, out<"seen", b8, batch, kv>> {
      return {mask(dot<d_k>(q, k) * scale, keep), keep};
    });
constexpr auto step = gradient<scores>;
constexpr auto some = gradient<scores, "K">;

using of_all = std::remove_const_t<decltype(step)>;
using of_k = std::remove_const_t<decltype(some)>;
constexpr bool same(const core::argument &a, core::sv name, core::role what, dtype type,
                    const core::axes &shape) {
  return a.name == name && a.what == what && a.type == type && a.shape.same_set(shape);
}

static_assert(of_all::name == "scores_gradient" && of_k::name == "scores_gradient");
// The kernel's arguments, then the adjoint of each result of floating type.
static_assert(std::size(of_all::arguments) == 5);
static_assert(same(of_all::arguments[1], "K", core::role::in, bf16,
                   core::axes_of<batch, kv, d_k>()));
static_assert(same(of_all::arguments[3], "scale", core::role::param, f32, {}));
static_assert(same(of_all::arguments[4], "dS", core::role::in, f32,
                   core::axes_of<batch, seq, kv>()));
// The gradient of each argument of floating type, in its type, or of those that are named.
static_assert(std::size(of_all::outputs) == 3 && std::size(of_k::outputs) == 1);
static_assert(same(of_all::outputs[0], "dQ", core::role::out, f32,
                   core::axes_of<batch, seq, d_k>()));
static_assert(same(of_all::outputs[2], "dscale", core::role::out, f32, {}));
static_assert(same(of_k::outputs[0], "dK", core::role::out, bf16, core::axes_of<batch, kv, d_k>()));

}  // namespace
