// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/language.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "codegen/program/from_graph.hpp"
#include "codegen/program/meaning.hpp"
#include "codegen/program/sizes.hpp"

namespace qkv::fuzz {

namespace rule = detail::rule;
using detail::form;
using detail::info;

language::language(std::string name) { r_.name = std::move(name); }

int language::add_axis(axis_of a) {
  names_.push_back(a.name);
  axis_data d{names_.back(), a.size, a.batch};
  if (a.alias_of >= 0) {
    const axis_data *of = axis(a.alias_of);
    d = {names_.back(), of->size, of->batch, of->is_alias ? of->same_as : of, true};
    a.size = of->size, a.batch = of->batch;
  }
  axes_.push_back(d);
  r_.axes.push_back(std::move(a));
  return static_cast<int>(axes_.size()) - 1;
}

int language::axis_called(sv name) const {
  for (std::size_t k = 0; k < axes_.size(); ++k)
    if (axes_[k].name == name) return static_cast<int>(k);
  return -1;
}

std::vector<int> language::axes_of(int v) const {
  std::vector<int> r;
  for (const axis_data *a : (*this)[v].x.s) r.push_back(axis_called(a->name));
  return r;
}

axes language::set_of(const std::vector<int> &list) const {
  axes s;
  for (int a : list) s.add(axis(a));
  return s;
}

std::optional<value> language::refuse(sv why) {
  why_ = why;
  return {};
}

bool language::passes(const detail::text &why) {
  why_ = why.view();
  return why.empty();
}

// False for what C++ would not even parse: too few operands or axes, a scan of something other than
// a state.
bool language::is_word(const step &s) const {
  const auto is = [&](int v, op kind) { return r_[v].what == word::step && r_[v].kind == kind; };
  std::size_t in = 0, over = 0;
  switch (s.what) {
    case word::root:
      over = 1;
      break;
    case word::filled:
      over = 1;
      break;
    case word::plain:
    case word::let:
      in = 1;
      break;
    case word::slice:
      in = 2, over = 2;
      break;
    case word::rows:
      in = 2;
      break;
    case word::causal:
      over = 2;
      break;
    case word::joined:
      in = 2, over = 3;
      break;
    case word::step:
      in = is_source(s.kind)                           ? 0
           : s.kind == op::where || s.kind == op::scan ? 3
           : is_binary(s.kind) || is_gather(s.kind) || s.kind == op::dot || s.kind == op::mask ||
                   s.kind == op::element
               ? 2
               : 1;
      over = s.kind == op::split || s.kind == op::merge ? 3
             : s.kind == op::rename                     ? 2
             : s.kind == op::index || s.kind == op::size || s.kind == op::cumsum ||
                     s.kind == op::carried || s.kind == op::element || s.kind == op::scan ||
                     is_gather(s.kind)
                 ? 1
                 : 0;
  }
  if (s.in.size() != in || s.over.size() < over) return false;
  if (s.what != word::step) return true;
  if (s.kind == op::element) return is(s.in[1], op::carried);
  if (s.kind == op::scan) return is(s.in[0], op::carried);
  return s.kind != op::last || is(s.in[0], op::scan);
}

int language::add(step s) {
  if (!is_word(s)) return refuse("no word of the language"), -1;
  operands in;
  int state = -1;
  for (int v : s.in) {
    in.push_back(&values_[static_cast<std::size_t>(v)]);
    const int of = in.back()->state;
    if (state >= 0 && of >= 0 && state != of) return refuse("steps of two scans meet"), -1;
    if (of >= 0) state = of;
  }
  std::optional<value> v = made(s, in);
  if (!v) return -1;
  const bool is_step = s.what == word::step;
  if (is_step && (s.kind == op::scan || s.kind == op::last)) state = -1;
  if (is_step && s.kind == op::carried) state = size();
  v->state = state;
  names_.push_back(label_for(s, in));
  v->x.label = names_.back();
  values_.push_back(std::move(*v));
  r_.steps.push_back(std::move(s));
  return size() - 1;
}

bool language::add(result r) {
  const value &v = (*this)[r.value];
  const axes declared = set_of(r.axes);
  if (v.state >= 0) return refuse("a result inside of a scan").has_value();
  if (v.x.number()) return refuse("a result is a step").has_value();
  if (!passes(rule::result{r.name, declared, r.type}.check(v.x))) return false;
  names_.push_back(r.name);
  detail::put_output(g_, v.id, names_.back(), declared, r.type);
  outputs_.push_back({names_.back(), role::out, r.type, declared});
  r_.results.push_back(std::move(r));
  return true;
}

std::optional<codegen::program> language::program() {
  detail::message m;
  auto check = std::make_unique<detail::declaration_check<64>>(r_.name, m);
  if (bad_kernel_name(m, r_.name) || outputs_.empty()) return refuse(m.view()), std::nullopt;
  for (const auto *list : {&arguments_, &outputs_})
    for (const argument &a : *list)
      if (!check->add(a, {})) return refuse(m.view()), std::nullopt;
  if (detail::lone_param(m, r_.name, arguments_)) return refuse(m.view()), std::nullopt;
  return codegen::program_of(r_.name, arguments_, outputs_, detail::in_order(g_));
}

// As detail::lift, for types known at run time.
int language::lift(const value &v, dtype number) {
  if (v.x.tensor()) return v.id;
  if (v.x.number()) return g_.put(detail::number_node(v.number, number));
  const int base = g_.size();
  for (const node &n : v.nodes) {
    node m = detail::moved(n, base);
    if (number == f64 && m.type == f32) m.type = f64;
    g_.put(m);
  }
  return g_.size() - 1;
}

// As detail::make_step.
template <class Rule, class... V>
std::optional<value> language::apply(const Rule &rule, const V &...v) {
  if ((v.x.number() && ...)) return refuse("numbers alone are C++");
  if (!passes(rule.check(v.x...))) return {};
  value r;
  r.x.s = rule.shape(v.x...);
  r.x.m = rule.meaning(v.x...);
  dtype number = detail::number_type({v.x.m.type...});
  if constexpr (requires { Rule::number; }) number = Rule::number;
  const bool tensor = (v.x.tensor() || ...);
  graph list;
  if (!tensor) std::swap(list, g_);
  const int a[] = {lift(v, number)..., -1, -1};
  r.id = g_.put(detail::step_node(rule.kind, r.x.m.type, r.x.s, rule.over, a[0], a[1], a[2]));
  r.x.kind = tensor ? form::tensor : form::index;
  if (!tensor) {
    std::swap(list, g_);
    r.nodes = std::move(list.nodes);
    r.id = -1;
  }
  return r;
}
// language_words.cpp applies it.
template std::optional<value> language::apply(const detail::rule::mask<true> &, const value &,
                                              const value &);

std::optional<value> language::made(const step &s, const operands &in) {
  return s.what == word::step ? operation(s, in) : word_of(s, in);
}

value language::from_axis(op kind, const axis_data *a) const {
  value v;
  v.x.kind = form::index;
  v.x.m = detail::whole_numbers;
  v.x.s = kind == op::index ? one_axis(a) : axes{};
  v.nodes = {detail::axis_node(kind, a, v.x.s)};
  return v;
}

std::optional<value> language::argument_of(const step &s) {
  value v;
  v.x.kind = form::tensor;
  v.x.s = set_of(s.over);
  v.x.m.type = s.type;
  (s.kind == op::param ? v.x.m.param : v.x.m.given) = true;
  names_.push_back(s.name);
  arguments_.push_back(
      {names_.back(), s.kind == op::param ? role::param : role::in, s.type, v.x.s});
  v.id = g_.put(detail::argument_node(arguments_.back()));
  return v;
}

std::optional<value> language::operation(const step &s, const operands &in) {
  const axes over = set_of(s.over);
  if (is_pointwise(s.kind) && s.kind != op::cast) return pointwise(s.kind, in);
  if (is_reduction(s.kind)) return reduction(s.kind, over, in);
  switch (s.kind) {
    case op::input:
    case op::param:
      return argument_of(s);
    case op::number: {
      value v;
      v.x.kind = form::number;
      v.x.m.type = s.type;
      v.number = s.number;
      return v;
    }
    case op::index:
    case op::size:
      return from_axis(s.kind, over[0]);
    case op::uniform:
      if (in[0]->x.number()) {  // a literal seed: an expression of positions
        value seed = *in[0];
        seed.x.kind = form::index;
        seed.nodes = {detail::number_node(seed.number, i32)};
        return apply(rule::uniform{over}, seed);
      }
      return apply(rule::uniform{over}, *in[0]);
    case op::cast:
      return apply(rule::cast{s.type}, *in[0]);
    case op::dot:
      return apply(rule::dot{over}, *in[0], *in[1]);
    case op::softmax:
      return apply(rule::softmax{over}, *in[0]);
    case op::normalize:
      return apply(rule::normalize{over}, *in[0]);
    case op::cumsum:
      return apply(rule::cumsum{over}, *in[0]);
    case op::mask:
      if (in[0]->x.number() || in[1]->x.number()) return refuse("mask of a number");
      return apply(rule::mask<false>{}, *in[0], *in[1]);
    case op::take:
      if (in[0]->x.number()) return refuse("take of a number");
      return apply(rule::take{over}, *in[0], *in[1]);
    case op::concat:
      return apply(rule::joined(over[0], in[0]->x, in[1]->x), *in[0], *in[1]);
    case op::rename:
      return apply(rule::rename{over}, *in[0]);
    case op::split:
      return apply(rule::split{over}, *in[0]);
    case op::merge:
      return apply(rule::merge{over}, *in[0]);
    case op::broadcast:
      return apply(rule::broadcast{over}, *in[0]);
    case op::carried:
    case op::element:
    case op::scan:
    case op::last:
      return part_of_scan(s, in);
    default:
      return refuse("no word of the language");
  }
}

std::optional<value> language::function(op kind, const value &x) {
  using call = std::optional<value> (*)(language &, const value &);
  static constexpr auto calls = codegen::by_operation([]<op Kind>() -> call {
    if constexpr (core::is_function_of_one_number(Kind))
      return [](language &l, const value &of) { return l.apply(rule::function<Kind>{}, of); };
    else
      return nullptr;
  });
  return calls[static_cast<std::size_t>(kind)](*this, x);
}

std::optional<value> language::pointwise(op kind, const operands &in) {
  if (core::is_function_of_one_number(kind)) return function(kind, *in[0]);
  switch (kind) {
#define QKV_PAIRS(name, rule) \
  case op::name:              \
    return apply(rule<op::name>{}, *in[0], *in[1]);
    QKV_PAIRS(add, rule::binary)
    QKV_PAIRS(sub, rule::binary)
    QKV_PAIRS(mul, rule::binary)
    QKV_PAIRS(div, rule::binary)
    QKV_PAIRS(min, rule::binary)
    QKV_PAIRS(max, rule::binary)
    QKV_PAIRS(pow, rule::binary)
    QKV_PAIRS(less, rule::logic)
    QKV_PAIRS(less_equal, rule::logic)
    QKV_PAIRS(greater, rule::logic)
    QKV_PAIRS(greater_equal, rule::logic)
    QKV_PAIRS(equal, rule::logic)
    QKV_PAIRS(not_equal, rule::logic)
    QKV_PAIRS(and_, rule::logic)
    QKV_PAIRS(or_, rule::logic)
#undef QKV_PAIRS
    case op::neg:
      return apply(rule::negated{}, *in[0]);
    case op::not_:
      return apply(rule::inverted{}, *in[0]);
    case op::where:
      if (in[0]->x.number()) return refuse("where of a number");
      return apply(rule::where{}, *in[0], *in[1], *in[2]);
    default:
      return refuse("no pointwise operation");
  }
}

std::optional<value> language::reduction(op kind, const axes &over, const operands &in) {
  const value &x = *in[0];
  switch (kind) {
    case op::sum:
      return apply(rule::reduction<op::sum>{over}, x);
    case op::max_over:
      return apply(rule::reduction<op::max_over>{over}, x);
    case op::min_over:
      return apply(rule::reduction<op::min_over>{over}, x);
    case op::mean:
      return apply(rule::reduction<op::mean>{over}, x);
    default:
      return apply(rule::reduction<op::logsumexp>{over}, x);
  }
}

std::optional<codegen::program> program_of(const recipe &r, std::string *why) {
  language l(r.name);
  std::string unused;
  std::string &reason = why ? *why : unused;
  const auto refused = [&](const std::string &what) -> std::optional<codegen::program> {
    reason = what + ": " + l.why();
    return {};
  };
  for (const axis_of &a : r.axes) l.add_axis(a);
  for (const step &s : r.steps)
    if (l.add(s) < 0) return refused("v" + std::to_string(l.size()));
  for (const result &o : r.results)
    if (!l.add(o)) return refused(o.name);
  try {
    std::optional<codegen::program> p = l.program();
    if (!p) return refused("the declaration");
    codegen::require_sizes(*p);
    return p;
  } catch (const std::invalid_argument &e) {  // the build refuses it: sizes that cannot fit
    reason = e.what();
  } catch (const std::runtime_error &e) {  // of require_sizes: sizes that no argument gives
    reason = e.what();
  }
  return {};
}

}  // namespace qkv::fuzz
