// SPDX-License-Identifier: BSL-1.0
// Every text about the signature of a kernel and its results.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr axis<"seq", 128> seq128;
constexpr axis<"heads", 8> plain_heads;
constexpr axis<"empty", 0> empty;
constexpr axis<"two words"> two_words;
constexpr axis<"a", 2> a;
constexpr axis<"c", 2> c;
constexpr axis<"e", 2> e;
constexpr axis<"g", 2> g;
constexpr axis<"h", 2> h;
constexpr in<"Qg", batch, heads, seq, d_k> Qg;
constexpr in<"Kg", batch, kv_heads, kv, d_k> Kg;
constexpr axis<"d_k", 48> d_k48;
template <class Out, class Returned>
using result = detail::refusal<detail::applied<Out::rule, std::remove_const_t<Returned>>>;
template <std::size_t Declared, std::size_t Returned>
using count = detail::refusal<detail::result_count<Declared, Returned>>;

// two arguments of one name
static_assert(
    says<decltype(kernel<"k">([](in<"X", seq> x, in<"X", kv>) -> out<"Y", seq> { return x; }))>(
        "kernel k: two arguments are named X"));
// a result named like an argument
static_assert(says<decltype(kernel<"k">([](in<"X", seq> x) -> out<"X", seq> { return x; }))>(
    "kernel k: two arguments are named X"));
// two results of one name
static_assert(says<decltype(kernel<"k">([](in<"X", seq> x) -> outs<out<"Y", seq>, out<"Y", seq>> {
  return {x, x};
}))>("kernel k: two arguments are named Y"));
// one axis twice in an argument
static_assert(says<decltype(kernel<"k">([](in<"X", seq, seq> x) -> out<"Y", seq> { return x; }))>(
    "kernel k: X names axis seq twice one of them is another axis: an alias<.., seq>"));
// and in a result
static_assert(says<decltype(kernel<"k">([](in<"X", seq> x) -> out<"Y", seq, seq> { return x; }))>(
    "kernel k: Y names axis seq twice one of them is another axis: an alias<.., seq>"));
// one axis of two sizes
static_assert(
    says<decltype(kernel<"k">([](in<"X", seq> x, in<"M", seq128>) -> out<"Y", seq> { return x; }))>(
        "kernel k: axis seq is decided at the call in X but 128 in M"));
// one name for two axes
static_assert(
    says<decltype(kernel<"k">([](in<"X", heads> x, in<"M", plain_heads>) -> out<"Y", heads> {
      return x;
    }))>("kernel k: two different axes are named heads"));
// too many axes
static_assert(says<decltype(kernel<"k">([](in<"X", batch, heads, seq, d_k, a, c, e, g, h> x)
                                            -> out<"Y", batch, heads, seq, d_k, a, c, e, g, h> {
  return x;
}))>("kernel k: X has more than 8 axes"));
// an axis without positions
static_assert(says<decltype(kernel<"k">([](in<"X", empty> x) -> out<"Y", empty> { return x; }))>(
    "kernel k: axis empty is 0; a size is at least 1"));
// a name of an axis that is none
static_assert(
    says<decltype(kernel<"k">([](in<"X", two_words> x) -> out<"Y", two_words> { return x; }))>(
        "axis two words: a name is a letter, then letters, digits or _"));
// a name of an argument that is none
static_assert(says<decltype(kernel<"k">([](in<"my X", seq> x) -> out<"Y", seq> { return x; }))>(
    "argument my X: a name is a letter, then letters, digits or _"));
static_assert(says<decltype(kernel<"k">([](in<"_Bool", seq> x) -> out<"Y", seq> { return x; }))>(
    "argument _Bool: a name is a letter, then letters, digits or _"));
// a name of a kernel that is none
static_assert(
    says<decltype(kernel<"my kernel">([](in<"X", seq> x) -> out<"Y", seq> { return x; }))>(
        "kernel my kernel: a name is a letter, then letters, digits or _"));
// a name that the generated C could not give to its function
static_assert(says<decltype(kernel<"call">([](in<"X", seq> x) -> out<"Y", seq> { return x; }))>(
    "kernel call: the runtime has a qkv_call of its own choose another name"));
static_assert(says<decltype(kernel<"code_x">([](in<"X", seq> x) -> out<"Y", seq> { return x; }))>(
    "kernel code_x: qkv_code_.. is the name of other generated code choose another name"));
// a lambda that captures
static_assert(
    says<decltype(kernel<"k">([n = 2](in<"X", seq> x) -> out<"Y", seq> { return n * x; }))>(
        "kernel k: the lambda must not capture"));
// no name, or one among the arguments
static_assert(says<decltype(kernel([](in<"X", seq> x) -> out<"Y", seq> { return x; }))>(
    "kernel: the name belongs in <> did you mean kernel<\"name\">(..)?"));
static_assert(says<decltype(kernel(
                  "k", [](in<"X", seq> x) -> out<"Y", seq> { return x; }))>(
    "kernel: the name belongs in <> did you mean kernel<\"name\">(..)?"));
// a mutable lambda
static_assert(
    says<decltype(kernel<"k">([](in<"X", seq> x) mutable -> out<"Y", seq> { return x; }))>(
        "kernel k: the lambda must be neither mutable nor noexcept"));
// no declared result
static_assert(says<decltype(kernel<"k">([](in<"X", seq> x) { return x; }))>(
    "kernel k: declares no result write -> out<name, axes...> before the body X[seq]"));
// arguments without type
static_assert(says<decltype(kernel<"k">([](auto x) { return x; }))>(
    "kernel k: every argument needs a type write in<...> or param<...> instead of auto"));
// an argument that is not a tensor
static_assert(says<decltype(kernel<"k">([](in<"X", seq> x, float) -> out<"Y", seq> { return x; }))>(
    "kernel k: argument 2 is neither an in<...> nor a param<...>"));
// an axis that is left over
static_assert(says<result<out<"O", batch, heads, seq>, decltype(scores)>>(
    "result O: kv is not declared contract or reduce it, or declare it O[batch, heads=8, seq] "
    "returned[batch, heads=8, seq, kv]"));
// another axis than declared
static_assert(says<result<out<"O", batch, heads, seq, d_k>, decltype(attended)>>(
    "result O: d_v is not declared declared instead: d_k O[batch, heads=8, seq, d_k=64] "
    "returned[batch, heads=8, seq, d_v=32]"));
// an axis that is missing
static_assert(says<result<out<"O", batch, heads, seq, d_v, mem>, decltype(attended)>>(
    "result O: mem is declared but not returned O[batch, heads=8, seq, d_v=32, mem] "
    "returned[batch, heads=8, seq, d_v=32]"));
// grouped heads that were not split
static_assert(says<result<out<"O", batch, heads, seq, kv>, decltype(dot<d_k>(Qg, Kg))>>(
    "result O: kv_heads is not declared grouped heads? split<heads, kv_heads, group>(Q) O[batch, "
    "heads=8, seq, kv] returned[batch, heads=8, seq, kv_heads=2, kv]"));
// another size
static_assert(says<result<out<"O", batch, heads, seq, d_k48>, decltype(Q)>>(
    "result O: d_k is 48 as declared but 64 as returned O[batch, heads=8, seq, d_k=48] "
    "returned[batch, heads=8, seq, d_k=64]"));
// one name, two axes
static_assert(says<result<out<"O", plain_heads>, in<"x", heads>>>(
    "result O: two different axes are named heads O[heads=8] returned[heads=8]"));
// another type
static_assert(says<result<out<"O", i32, batch, heads, seq, d_k>, decltype(Q)>>(
    "result O: declared i32 but returned f32 if it is meant, cast<i32>(Q) O[batch, heads=8, seq, "
    "d_k=64] returned[batch, heads=8, seq, d_k=64]"));
// positions alone
static_assert(says<result<out<"O", i32, seq>, decltype(index(seq))>>(
    "result O: index(seq) meets no input of the kernel"));
// f32 for f64, and f64 for f32
static_assert(says<result<out<"O", f64, batch, heads, seq, d_k>, decltype(Q)>>(
    "result O: declared f64 but returned f32 if it is meant, cast<f64>(Q) O[batch, heads=8, seq, "
    "d_k=64] returned[batch, heads=8, seq, d_k=64]"));
static_assert(says<result<out<"O", batch, seq>, in<"x", f64, batch, seq>>>(
    "result O: declared f32 but returned f64 if it is meant, cast<f32>(x) O[batch, seq] "
    "returned[batch, seq]"));
// more results than declared
static_assert(says<count<1, 2>>(
    "results: 1 declared, 2 returned several results are declared as outs<out<...>, out<...>>"));
// fewer results than declared
static_assert(says<count<3, 2>>("results: 3 declared, 2 returned"));

}  // namespace
