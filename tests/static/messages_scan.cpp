// SPDX-License-Identifier: BSL-1.0
// Every text of scan and of the recurrences made with it.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"S", batch, heads, d_k, d_v> S;
constexpr in<"s", batch, d_model> s;
constexpr in<"beta", batch, heads, seq> beta;
constexpr auto same = [](auto state, auto) { return state; };

// the state varies along the axis
static_assert(
    says<decltype(scan<seq>(X, same, X))>("scan<seq>: the state X varies along seq, along which it "
                                          "is carried X[batch, seq, d_model=512]"));
// whole numbers
static_assert(says<decltype(scan<seq>(length, same, X))>(
    "scan<seq>: the state length is i32, not f32 did you mean cast<f32>(length)? length[batch]"));
// an operand without the axis
static_assert(says<decltype(scan<mem>(s, same, X))>(
    "scan<mem>: no axis mem in X X[batch, seq, d_model=512]"));
// a result of another type
constexpr auto bent = [](auto state, auto x) { return std::pair{state, x > 0}; };
static_assert(says<decltype(scan<seq>(s, bent, X))>(
    "scan<seq>: the state is f32 but the result is b8 did you mean cast<f32>(X > number)? s[batch, "
    "d_model=512] X > number[batch, d_model=512]"));
// an operand that the step does not take
static_assert(says<decltype(scan<seq>(s, same, X, X))>(
    "scan<seq>: the step takes fewer operands than the state and the 2 that follow it [](auto "
    "state, auto x, ..) with an x for each"));
// a step that takes one operand more, and two more
constexpr auto wants_two = [](auto state, auto x, auto y) { return state + x * y; };
static_assert(says<decltype(scan<seq>(s, wants_two, X))>(
    "scan<seq>: the step takes more operands than the state and the 1 that follow it [](auto "
    "state, auto x, ..) with an x for each"));
constexpr auto wants_three = [](auto state, auto x, auto, auto) { return state + x; };
static_assert(says<decltype(scan<seq>(s, wants_three, X))>(
    "scan<seq>: the step takes more operands than the state and the 1 that follow it [](auto "
    "state, auto x, ..) with an x for each"));
// nothing of the kernel
constexpr auto floats = [](float state, float x) { return state + x; };
static_assert(says<decltype(scan<seq>(s, floats, X))>(
    "scan<seq>: the step takes other operands than the state and the 1 that follow it [](auto "
    "state, auto x, ..) with an x for each"));
static_assert(says<decltype(scan<seq>(zeros<d_k>(), same, index(seq)))>(
    "scan<seq>: no operand is a step of the kernel"));
// other axes
constexpr auto adds = [](auto state, auto x) { return state + x; };
constexpr auto grows = [](auto state, auto) { return broadcast<d_k>(state); };
static_assert(says<decltype(scan<seq>(s, grows, X))>(
    "scan<seq>: the next state has other axes than the state start from broadcast<d_k>(s) s[batch, "
    "d_model=512] broadcast(s)[batch, d_model=512, d_k=64]"));
static_assert(says<decltype(scan<seq>(1, adds, X))>(
    "scan<seq>: the next state has other axes than the state start from zeros<batch, d_model>() "
    "plus the number state[] state + X[batch, d_model=512]"));
constexpr auto shrinks = [](auto state, auto) { return sum<d_model>(state); };
static_assert(says<decltype(scan<seq>(s, shrinks, X))>(
    "scan<seq>: the next state has other axes than the state s[batch, d_model=512] sum(s)[batch]"));
// of another type
constexpr auto counts = [](auto state, auto x) { return state < x; };
static_assert(
    says<decltype(scan<seq>(s, counts, X))>("scan<seq>: the state is f32 but the next one is b8 "
                                            "s[batch, d_model=512] s < X[batch, d_model=512]"));
// all positions inside a step
constexpr auto captures = [](auto state, auto) { return broadcast<seq>(state) + X; };
static_assert(says<decltype(scan<seq>(s, captures, X))>(
    "scan<seq>: broadcast(s) + X varies along seq inside the step hand what it is made of to scan "
    "after the step, and use the step's argument broadcast(s) + X[batch, seq, d_model=512]"));
constexpr auto gives_all = [](auto state, auto) { return std::pair{state, X}; };
static_assert(says<decltype(scan<seq>(s, gives_all, X))>(
    "scan<seq>: X varies along seq inside the step hand what it is made of to scan after the step, "
    "and use the step's argument X[batch, seq, d_model=512]"));
// no state
constexpr auto number = [](auto, auto) { return 1; };
static_assert(says<decltype(scan<seq>(s, number, X))>(
    "scan<seq>: the step returns no state return the next state, or std::pair{next, result}"));

// recurrences: keys on an axis of their own, a state of other features, gates of other features
static_assert(says<decltype(delta_rule<d_k, seq, d_v>(S, Q, K, Vq, beta))>(
    "scan<seq>: no axis seq in K K[batch, heads=8, kv, d_k=64]"));
static_assert(says<decltype(recurrent_attention<d_k, seq, d_v>(s, Q, Kq, Vq))>(
    "dot<d_k>: no axis d_k in s s[batch, d_model=512] Kq[batch, heads=8, d_k=64]"));
static_assert(says<decltype(gated_attention<d_k, seq, d_v>(S, Q, Kq, Vq, X))>(
    "*: neither side contains the other if it is meant, broadcast<d_model>(S) and broadcast<heads, "
    "d_k>(broadcast(exp(X))) S[batch, heads=8, d_k=64, d_v=32] broadcast(exp(X))[batch, "
    "d_model=512, d_v=32]"));
static_assert(says<decltype(gated_delta_rule<d_k, seq, d_v>(S, Q, Kq, Vq, beta, X))>(
    "*: neither side contains the other if it is meant, broadcast<d_model>(Vq - dot(Kq, ..)) and "
    "broadcast<heads, d_v>(X) Vq - dot(Kq, ..)[batch, heads=8, d_v=32] X[batch, d_model=512]"));

// its form
constexpr auto plus = [](auto state, auto x) { return state + x; };
static_assert(says<decltype(scan<seq>())>(
    "scan<seq>: the state and the step are missing it takes scan<axis>(start, step, x, ..)"));
static_assert(says<decltype(scan<seq>(zeros<batch, d_model>(), X))>(
    "scan<seq>: the step is missing it takes scan<axis>(start, step, x, ..)"));
static_assert(says<decltype(scan<seq>(plus, X))>(
    "scan<seq>: the state comes first, then the step it takes scan<axis>(start, step, x, ..), from "
    "zeros<..>() where nothing else is the start"));
static_assert(says<decltype(scan<seq>(plus, zeros<batch, d_model>(), X))>(
    "scan<seq>: the state comes first, then the step it takes scan<axis>(start, step, x, ..), from "
    "zeros<..>() where nothing else is the start"));
static_assert(says<decltype(scan<seq>(zeros<batch, d_model>, plus, X))>(
    "scan<seq>: operand 1 is a function that is not called add () to call it"));
static_assert(says<decltype(scan<seq>(
                  zeros<batch, d_model>(), [](auto &state, auto &x) { return state + x; }, X))>(
    "scan<seq>: the step takes references its operands are values: [](auto state, auto x, ..), "
    "without &"));

// several states
static_assert(
    says<decltype(scan<seq>(std::make_tuple(zeros<batch, d_model>(), zeros<batch>()), adds, X))>(
        "scan<seq>: a scan carries one state, not 2 did you mean a scan for each? states that need "
        "each other are one: concat<both>(a, b), then slice<both, a>(state, 0)"));
static_assert(says<decltype(scan<seq>(
                  zeros<batch, d_model>(), zeros<batch>(),
                  [](auto state, auto, auto x) { return state + x; }, X))>(
    "scan<seq>: a scan carries one state, not 2 did you mean a scan for each? states that need "
    "each other are one: concat<both>(a, b), then slice<both, a>(state, 0)"));
static_assert(says<decltype(scan<seq>(
                  zeros<batch, d_model>(),
                  [](auto state, auto x) { return std::pair{std::pair{state, x}, x}; }, X))>(
    "scan<seq>: a scan carries one state, not 2 did you mean a scan for each? states that need "
    "each other are one: concat<both>(a, b), then slice<both, a>(state, 0)"));
static_assert(says<decltype(scan<seq>(
                  zeros<batch, d_model>(),
                  [](auto state, auto x) { return std::tuple{state + x, state}; }, X))>(
    "scan<seq>: the step returns a tuple or an array of 2 did you mean std::pair{next, result}? "
    "several results are several scans"));
static_assert(!refused<decltype(scan<seq>(
                  zeros<batch, d_model>(),
                  [](auto state, auto x) { return std::make_pair(state + x, state); }, X))>);

}  // namespace
