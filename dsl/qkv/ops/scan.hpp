// SPDX-License-Identifier: BSL-1.0
#pragma once
// Recurrences: a state carried along an axis.
#include <type_traits>
#include <utility>

#include <qkv/core/already_wrong.hpp>
#include <qkv/core/call.hpp>

namespace qkv {

// The results of a scan: one for every position, and the state after the last position.
template <class Result, class Last>
struct [[nodiscard("a scan changes no other step: use what it gives")]] scanned {
  Result result;
  Last last;
};
template <class Result, class Last>
scanned(Result, Last) -> scanned<Result, Last>;

namespace detail {

template <class Result, class Last>
inline constexpr sv parts_of<scanned<Result, Last>> = ".result after it, or .last for the state";

template <class Result, class Last>
struct outcome<scanned<Result, Last>> : outcomes<Result, Last> {
  static constexpr auto bare(const scanned<Result, Last> &r) {
    return scanned{outcome<Result>::bare(r.result), outcome<Last>::bare(r.last)};
  }
};

namespace rule {

struct scan {
  axes over{};

  constexpr call_name call() const { return {"scan", over}; }
  constexpr text check_state(const info &state) const {
    message m;
    if (state.s.has(over[0]))
      return m
          .say(call(), ": the state ", state.label, " varies along ", over[0]->name,
               ", along which it is carried")
          .show(state);
    if (!state.number() && state.m.type != f32 && state.m.type != f64)
      m.say(call(), ": the state ", state.label, " is ", name_of(state.m.type), ", not f32")
          .say("did you mean cast<f32>(", state.label, ")?")
          .show(state);
    return m;
  }
  constexpr text check_operand(const info &x) const {
    message m;
    lacks_axis(m, call(), over, x);
    return m;
  }
  constexpr text check_next(const info &state, const info &next, bool number_start = false) const {
    message m;
    if (walks(m, next) || sizes_differ(m, call(), state, next)) return m;
    if (next.s.same_set(state.s)) {
      if (next.m.type != state.m.type)
        m.say(call(), ": the state is ", name_of(state.m.type), " but the next one is ",
              name_of(next.m.type))
            .show(state, next);
      return m;
    }
    m.say(call(), ": the next state has other axes than the state");
    if (number_start && !next.s.has(over[0]))
      m.say("start from zeros<", next.s, ">() plus the number");
    else if (next.s.contains(state.s))
      m.say("start from broadcast<", next.s.without(state.s), ">(", state.label, ")");
    return m.show(state, next);
  }
  constexpr text check_result(const info &state, const info &y) const {
    message m;
    if (walks(m, y)) return m;
    if (y.m.type != state.m.type)
      return m
          .say(call(), ": the state is ", name_of(state.m.type), " but the result is ",
               name_of(y.m.type))
          .say("did you mean cast<", name_of(state.m.type), ">(", y.label, ")?")
          .show(state, y);
    if (y.s.n == max_axes)
      m.say(call(), ": the result has more than ", long{max_axes}, " axes").show(y);
    return m;
  }

 private:
  // An operand over all positions inside a step, which sees one.
  constexpr bool walks(message &m, const info &x) const {
    if (!x.s.has(over[0])) return false;
    m.say(call(), ": ", x.label, " varies along ", over[0]->name, " inside the step")
        .say("hand what it is made of to scan after the step, and use the step's argument")
        .show(x);
    return true;
  }
};

}  // namespace rule

// The same label with another shape and other marks.
template <class X, axes S, marks M>
struct renewed;
template <class W, const info &F, axes S, marks M>
struct renewed<expr<W, F>, S, M> {
  using type = expr_of<facts<own_label<F>, S, M, F.checked>::v>;
};
template <class W, const info &F, int N, axes S, marks M>
struct renewed<index_expr<W, F, N>, S, M> {
  using type = expr_of<facts<own_label<F>, S, M, F.checked>::v>;
};
template <class Number, axes S, marks M>
struct renewed<checked_number<Number>, S, M> {
  using type = expr_of<facts<"state", S, M, true>::v>;
};

template <class Number, axes S, marks M>
  requires std::is_arithmetic_v<Number>
struct renewed<Number, S, M> {
  using type = expr_of<facts<"state", S, M>::v>;
};

// The state is not a param even where its start is one.
constexpr marks carried_marks(const info &start) {
  marks r;
  r.type = start.number() ? f32 : start.m.type;
  return r;
}

template <axes Over, class X>
struct at_position : renewed<X, of<X>.s.without(Over), values(of<X>.m, of<X>.m.type)> {};
template <class S>
struct state_of : renewed<S, of<S>.s, carried_marks(of<S>)> {};

// The return type of a step: the next state, which is also the result, or a pair of both.
template <class R>
struct returned {
  using next = R;
  using result = R;
};
template <class Next, class Result>
struct returned<std::pair<Next, Result>> {
  using next = Next;
  using result = Result;
};
template <class R>
constexpr const R &next_of(const R &r) {
  return r;
}
template <class N, class R>
constexpr const N &next_of(const std::pair<N, R> &r) {
  return r.first;
}
template <class R>
constexpr const R &result_of(const R &r) {
  return r;
}
template <class N, class R>
constexpr const R &result_of(const std::pair<N, R> &r) {
  return r.second;
}

template <axes Over, class S, class... X>
struct scan_operands {
  static constexpr text why() {
    constexpr rule::scan rule{Over};
    message m;
    if ((!of<S>.tensor() && ... && !of<X>.tensor()))
      return m.say(rule.call(), ": no operand is a step of the kernel");
    text t = rule.check_state(of<S>);
    ((t = t.empty() ? rule.check_operand(of<X>) : t), ...);
    return t;
  }
};

template <axes Over, class... T>
inline constexpr bool scan_fits = false;
template <axes Over, operand S, class Step, traced... X>
  requires(!in_formula<S, X...>)
inline constexpr bool scan_fits<Over, S, Step, X...> = passes<scan_operands<Over, S, X...>>;

// True if the step takes fewer operands than it is given. (Testing with exactly that number would
// instantiate the step's body, and fail if the body has an error.)
template <class Step, class Given, class... Left>
inline constexpr bool takes_fewer = false;
template <class Step, class... Given, class Next, class... Left>
inline constexpr bool takes_fewer<Step, void(Given...), Next, Left...> =
    std::is_invocable_v<Step &, Given...> || takes_fewer<Step, void(Given..., Next), Left...>;

template <axes Over, class S, class Step, class... X>
inline constexpr bool step_drops =
    takes_fewer<Step, void(typename state_of<S>::type), typename at_position<Over, X>::type...>;

template <axes Over, class... T>
inline constexpr bool scan_drops = false;
template <axes Over, operand S, class Step, traced... X>
  requires(!in_formula<S, X...>)
inline constexpr bool scan_drops<Over, S, Step, X...> = step_drops<Over, S, Step, X...>;

// True if it takes up to three more; tested with extra operands like the last one.
template <class Step, class Given, class Like, int Most = 3>
inline constexpr bool takes_more = false;
template <class Step, class... Given, class Like, int Most>
  requires(Most > 0)
inline constexpr bool takes_more<Step, void(Given...), Like, Most> =
    std::is_invocable_v<Step &, Given..., Like> ||
    takes_more<Step, void(Given..., Like), Like, Most - 1>;

template <class First, class... Next>
struct last_of : last_of<Next...> {};
template <class Last>
struct last_of<Last> {
  using type = Last;
};

template <axes Over, class... T>
inline constexpr bool scan_lacks = false;
template <axes Over, operand S, class Step, traced... X>
  requires(!in_formula<S, X...>)
inline constexpr bool scan_lacks<Over, S, Step, X...> = takes_more<
    Step, void(typename state_of<S>::type, typename at_position<Over, X>::type...),
    typename last_of<typename state_of<S>::type, typename at_position<Over, X>::type...>::type>;

// The operands before the first that is neither a step nor a number.
template <class... T>
consteval long states_before_step() {
  constexpr bool is_state[] = {operand<T>..., false};
  long n = 0;
  while (is_state[n]) ++n;
  return n;
}

// scan<axis>(start, step, x..)
template <class Brackets, class... T>
struct scan_form {
  static constexpr bool passes = false;
  static constexpr text why() {
    message m;
    if (Brackets::say_not_axes(m, "scan")) return m;
    if (Brackets::count != 1) {
      Brackets::say_count(m, "scan");
      return m.say("it takes scan<axis>(start, step, x, ..)");
    }
    const text name = text() << "scan<" << Brackets::named << ">";
    say_uncalled_or_several_of<T...>(m, name.view());
    if (!m.empty()) return m;
    constexpr bool is_step[] = {!operand<T>..., false};
    constexpr long states[] = {steps_in<T>..., 0}, before = states_before_step<T...>();
    if (states[0] > 1) return say_several_states(m, {"scan", Brackets::named}, states[0]);
    if (before > 1 && before < long{sizeof...(T)})
      return say_several_states(m, {"scan", Brackets::named}, before);
    if (sizeof...(T) < 2 || !(is_step[0] || is_step[1]))
      m.say(name, ": the ", sizeof...(T) == 0 ? "state and the step are" : "step is", " missing");
    else if (is_step[0])
      m.say(name, ": the state comes first, then the step");
    else
      m.say(name, " is not called with such operands");
    m.say("it takes scan<axis>(start, step, x, ..)");
    if (is_step[0]) m << ", from zeros<..>() where nothing else is the start";
    return m;
  }
};
template <class Brackets, class Start, class Step, class... X>
  requires(Brackets::all_axes && Brackets::count == 1 && operand<Start> && !operand<Step> &&
           (traced<X> && ...))
struct scan_form<Brackets, Start, Step, X...> {
  static constexpr bool passes = true;  // for others to refuse
};

// [](float state, float x): not a template, so its types are known without its body. (A concept
// evaluates the second requirement only where the first holds.)
template <class Step, class... Given>
concept takes_others = requires { &Step::operator(); } && !std::is_invocable_v<Step &, Given...>;

template <axes Over, class... T>
inline constexpr bool scan_mistyped = false;
template <axes Over, operand S, class Step, traced... X>
  requires(!in_formula<S, X...>)
inline constexpr bool scan_mistyped<Over, S, Step, X...> =
    takes_others<Step, typename state_of<S>::type, typename at_position<Over, X>::type...>;

// [](auto &state, auto &x): a step gets values, which it cannot change. Asked last: the questions
// instantiate the step's body. (std::is_invocable_v would add five lines to errors in it.)
template <class Step, class... Given>
concept can_be_given =
    requires(Step &step, Given &&...given) { step(static_cast<Given &&>(given)...); };
template <class Step, class... Given>
concept takes_references = !can_be_given<Step, Given...> && can_be_given<Step, Given &...>;
template <axes Over, class... T>
inline constexpr bool scan_refers = false;
template <axes Over, operand S, class Step, traced... X>
  requires scan_fits<Over, S, Step, X...>
inline constexpr bool scan_refers<Over, S, Step, X...> =
    takes_references<Step, typename state_of<S>::type, typename at_position<Over, X>::type...>;

enum class taken : unsigned char { fewer, more, others, references };
template <axes Over, class... T>
inline constexpr taken takes = scan_drops<Over, T...>   ? taken::fewer
                               : scan_lacks<Over, T...> ? taken::more
                                                        : taken::others;

// N operands follow the state, but the step takes fewer, or more, or operands of other types.
template <axes Over, taken Found, std::size_t N>
struct scan_call {
  static constexpr text why() {
    constexpr rule::scan rule{Over};
    message m;
    if (Found == taken::references)
      return m.say(rule.call(), ": the step takes references")
          .say("its operands are values: [](auto state, auto x, ..), without &");
    return m
        .say(rule.call(), ": the step takes ",
             Found == taken::fewer  ? "fewer"
             : Found == taken::more ? "more"
                                    : "other",
             " operands than the state and the ", long{N}, " that follow it")
        .say("[](auto state, auto x, ..) with an x for each");
  }
};

template <axes Over, class S, class R>
struct scan_step {
  static constexpr text why() {
    constexpr rule::scan rule{Over};
    using next = typename returned<R>::next;
    using result = typename returned<R>::result;
    message m;
    if (steps_in<next> > 1 && of<result>.tensor())
      return say_several_states(m, rule.call(), steps_in<next>);
    if (steps_in<R> > 1 && !of<next>.tensor()) {
      m.say(rule.call(), ": the step returns a tuple or an array of ", steps_in<R>);
      return m.say("did you mean std::pair{next, result}? several results are several scans");
    }
    if (!of<next>.tensor() || !of<result>.tensor())
      return m.say(rule.call(), ": the step returns no state")
          .say("return the next state, or std::pair{next, result}");
    const text t = rule.check_next(of<typename state_of<S>::type>, of<next>, of<S>.number());
    return t.empty() ? rule.check_result(of<typename state_of<S>::type>, of<result>) : t;
  }
};

struct anything {
  template <class T>
  constexpr anything(const T &) {}
};

template <axes Over, class Result, class Last>
constexpr auto put_scan(graph *g, int state, const Last &, int next, const Result &y) {
  constexpr info r = of<Result>, l = of<Last>;
  constexpr axes shape = one_axis(Over[0]).with(r.s);
  constexpr marks of_result = values(r.m, r.m.type), of_last = values(l.m, l.m.type);
  const int result = g->put(step_node(op::scan, of_result.type, shape, Over, state, next, y.id));
  const int last = g->put(step_node(op::last, of_last.type, l.s, Over, state, next));
  constexpr bool checked = in_formula<Result, Last>;
  return scanned{
      expr_with<facts<axis_label<op::scan, Over[0]>, shape, of_result, checked>::v>({g, result}),
      expr_with<facts<axis_label<op::last, Over[0]>, l.s, of_last, checked>::v>({g, last})};
}

template <axes Over, class S, class Step, class... X>
constexpr auto traced_scan(S state, Step step, X... x) {
  graph *g = graph_among({graph_in(state), graph_in(x)...});
  const int start = lift(f32, *g, state);
  using state_type = typename state_of<S>::type;
  const int carried =
      g->put(step_node(op::carried, of<state_type>.m.type, of<state_type>.s, Over, start));
  (*g)[carried].number = carried;  // each scan has a state of its own
  [[maybe_unused]] const auto at = [&]<class Y>(const Y &y) {
    using type = typename at_position<Over, Y>::type;
    const int whole = lift(i32, *g, y);
    return type{
        {g, g->put(step_node(op::element, of<type>.m.type, of<type>.s, Over, whole, carried))}};
  };
  const auto r = step(state_type{{g, carried}}, at(x)...);
  const auto &next = next_of(r);
  return put_scan<Over>(g, carried, next, next.id, result_of(r));
}

template <class Check>
constexpr auto refused_scan() {
  return scanned{refused_by<Check>{}, refused_by<Check>{}};
}

// Inside a formula, of which the step is a part.
template <axes Over, class S, class Step, class... X>
constexpr auto formula_scan(S state, Step step, X... x) {
  if constexpr ((of<S>.refused || ... || of<X>.refused)) {
    const auto r = first_refused(state, x...);
    return scanned{r, r};
  } else if constexpr (!passes<scan_operands<Over, S, X...>>) {
    return refused_scan<scan_operands<Over, S, X...>>();
  } else if constexpr (!std::is_invocable_v<Step &, typename state_of<S>::type,
                                            typename at_position<Over, X>::type...>) {
    constexpr taken found = step_drops<Over, S, Step, X...> ? taken::fewer : taken::more;
    return refused_scan<scan_call<Over, found, sizeof...(X)>>();
  } else {
    using stepped =
        decltype(step(typename state_of<S>::type{}, typename at_position<Over, X>::type{}...));
    if constexpr (!outcome<stepped>::passes)
      return refused_scan<outcome<stepped>>();
    else if constexpr (!passes<scan_step<Over, S, stepped>>)
      return refused_scan<scan_step<Over, S, stepped>>();
    else
      return traced_scan<Over>(state, step, x...);
  }
}

}  // namespace detail

template <an_axis auto Ax, operand S, class Step, traced... X>
  requires detail::in_formula<S, X...>
constexpr auto scan(S state, Step step, X... x) {
  return detail::formula_scan<core::axes_of<Ax>()>(state, step, x...);
}
// Declared before the definition so that compilers print this declaration, not the definition, for
// an error inside a step. Functions that are never defined are constexpr: otherwise g++ adds an
// error about functions that take a lambda.
template <an_axis auto Ax, operand S, class Step, traced... X,
          class = std::enable_if_t<detail::scan_fits<core::axes_of<Ax>(), S, Step, X...>>,
          class R = decltype(std::declval<Step &>()(
              std::declval<typename detail::state_of<S>::type>(),
              std::declval<typename detail::at_position<core::axes_of<Ax>(), X>::type>()...)),
          class Err = detail::refusal<detail::scan_step<core::axes_of<Ax>(), S, R>>>
constexpr Err scan(S, Step, X...);

// Computes: s = state; for each position t along Ax: (s, y[t]) = step(s, x[t]...), where step
//           returns std::pair{next state, y}, or the next state alone, which then is y. Gives y and
//           the last s: auto [y, s] = scan<seq>(S0, step, K, V).
// Shapes:   state [..] without Ax; each x carries Ax, and is given to step without it; next as the
//           state; y [..] -> result [Ax, ..]. Everything that varies along Ax is handed over as x.
// Numerics: in order along Ax, in the type of the state. Where the next state is absent (masked),
//           the state stays. Only the state and what a step contracts or reduces are stored:
//           nothing of it grows with Ax but y. Axes that no step contracts or reduces are
//           independent lanes.
// Errors:   a state with Ax, or not of floats; an x without Ax; a step that does not take the state
//           and the operands, or returns no state; a next state of other axes or another type; a
//           result with Ax or of another type; a scan inside a step, and folds of whole numbers
//           there, when the kernel is built.
// Source:   the recurrence of linear attention (Katharopoulos et al. 2020, eq. 18-20), delta rule
//           (Schlag et al. 2021), gates (Yang et al. 2024).
template <an_axis auto Ax, operand S, class Step, traced... X,
          class = std::enable_if_t<detail::scan_fits<core::axes_of<Ax>(), S, Step, X...>>,
          class R = decltype(std::declval<Step &>()(
              std::declval<typename detail::state_of<S>::type>(),
              std::declval<typename detail::at_position<core::axes_of<Ax>(), X>::type>()...))>
  requires detail::passes<detail::scan_step<core::axes_of<Ax>(), S, R>>
constexpr auto scan(S state, Step step, X... x) {
  return detail::traced_scan<core::axes_of<Ax>()>(state, step, x...);
}
template <an_axis auto Ax, operand S, traced... X,
          class Err = detail::refusal<detail::scan_operands<core::axes_of<Ax>(), S, X...>>>
  requires(!detail::in_formula<S, X...>)
Err scan(S, detail::anything, X...);
template <an_axis auto Ax, class... T,
          class Err = detail::refusal<
              detail::scan_call<core::axes_of<Ax>(), detail::takes<core::axes_of<Ax>(), T...>,
                                sizeof...(T) < 2 ? 0 : sizeof...(T) - 2>>>
  requires(detail::scan_fits<core::axes_of<Ax>(), T...> &&
           (detail::scan_drops<core::axes_of<Ax>(), T...> ||
            detail::scan_lacks<core::axes_of<Ax>(), T...> ||
            detail::scan_mistyped<core::axes_of<Ax>(), T...>))
constexpr Err scan(T...);
template <an_axis auto Ax, class S, class Step, class... X,
          class Err = detail::refusal<
              detail::scan_call<core::axes_of<Ax>(), detail::taken::references, sizeof...(X)>>>
  requires(detail::scan_refers<core::axes_of<Ax>(), S, Step, X...>)
constexpr Err scan(S, Step, X...);
template <detail::given... Ax, class... T,
          class Err = detail::refusal<detail::scan_form<detail::brackets<Ax...>, T...>>>
constexpr Err scan(T...);
// Selected where the step itself has an error, which the compiler has reported: adds no second one.
// Also selected for a step that takes many more operands, which is reported when the kernel is
// traced.
template <an_axis auto Ax, class... T>
  requires(detail::scan_fits<core::axes_of<Ax>(), T...> &&
           !detail::scan_drops<core::axes_of<Ax>(), T...> &&
           !detail::scan_lacks<core::axes_of<Ax>(), T...> &&
           !detail::scan_refers<core::axes_of<Ax>(), T...> &&
           !detail::scan_mistyped<core::axes_of<Ax>(), T...>)
scanned<detail::already_wrong, detail::already_wrong> scan(T...) {
  throw detail::wrong_step();
}

}  // namespace qkv
