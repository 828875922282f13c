// SPDX-License-Identifier: BSL-1.0
// Editors show the axes of a step and what it is for, in words: they read the types of clang.
#include "spec.hpp"

namespace {

using namespace spec;

// The words as clang prints them, without the types of the texts.
template <class Words>
struct printed;
template <str Shape, str Marks>
struct printed<core::words<Shape, Marks>> {
  static constexpr core::sv shape = Shape.view(), marks = Marks.view();
};
template <class T>
struct words_in;
template <class Words, const core::info &Facts>
struct words_in<expr<Words, Facts>> : printed<Words> {};
template <class Words, const core::info &Facts, int N>
struct words_in<index_expr<Words, Facts, N>> : printed<Words> {};

template <class T>
constexpr bool shows(core::sv shape, core::sv marks) {
  using words = words_in<std::remove_const_t<T>>;
  return words::shape == shape && words::marks == marks;
}

static_assert(shows<decltype(Q)>("[batch, heads=8, seq, d_k=64]", "an input"));
static_assert(shows<decltype(Wq)>("[d_model=512, heads=8, d_k=64]", "made of params alone"));
static_assert(shows<decltype(length)>("[batch] i32", "an input"));
static_assert(shows<decltype(scores)>("[batch, heads=8, seq, kv]", "contracted over d_k"));
static_assert(shows<decltype(softmax<kv>(mask(scores, causal<seq, kv>)))>(
    "[batch, heads=8, seq, kv]", "weights over kv, masked along kv"));
static_assert(shows<decltype(causal<seq, kv>)>("[kv, seq] b8", "queries seq, keys kv"));
static_assert(shows<decltype(exp(X))>("[batch, seq, d_model=512]", ""));
// 36 characters are what clang prints of a text.
static_assert(shows<decltype(scores / sqrt(d_k))>("[batch, heads=8, seq, kv]",
                                                  "contracted over d_k, divided by s..."));

template <class T>
constexpr core::sv spelled() {
  return __PRETTY_FUNCTION__;
}
#if __clang_major__ >= 15  // older ones print texts as character codes
static_assert(spelled<decltype(exp(scores))>().find("\"[batch, heads=8, seq, kv]\"") !=
              core::sv::npos);
#endif

}  // namespace
