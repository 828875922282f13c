// SPDX-License-Identifier: BSL-1.0
#pragma once
// The closed list of operations that a graph is made of, and one table of the facts of each.
#include <array>
#include <string_view>

namespace qkv::core {

enum class op : unsigned char {
  // sources
  input,   // changes with every call
  param,   // a parameter of the model
  number,  // a constant
  index,   // the position along an axis, i32
  size,    // the extent of an axis, i32
  // random numbers of [0, 1) along `over`, from a seed and perhaps, for each of these axes, where
  // its positions begin
  uniform,
  // pointwise, one operand
  neg,
  not_,
  exp,
  log,
  log1p,
  tanh,
  sigmoid,
  relu,
  gelu,
  silu,
  elu,
  softplus,
  sqrt,
  rsqrt,
  abs,
  erf,
  cos,
  sin,
  cast,
  // pointwise, two operands
  add,
  sub,
  mul,
  div,
  min,
  max,
  pow,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  and_,
  or_,
  // pointwise, three operands: where(condition, a, b)
  where,
  // contraction: sum over `over` of a * b
  dot,
  // reductions over `over`
  sum,
  max_over,
  min_over,
  mean,
  logsumexp,
  // weights over `over`
  softmax,
  normalize,
  // prefix sums along `over`
  cumsum,
  // a state carried along `over`: the start of it -> the state at a position
  carried,
  // carried, its next value, a result -> the result at every position; carried, its next value ->
  // the last state
  scan,
  last,
  // scores with some of their positions removed: mask(scores, keep)
  mask,
  // a table's values at positions along `over`: take(table, position)
  take,
  // its adjoint: the sum of all values at each position along `over`: put(values, position)
  put,
  // one after the other along over[0]; over[1] of the first operand, the last of `over` of the
  // second
  concat,
  // another view of the same numbers; `over` is {from, to}, {whole, a, b}, {whole, a, b}, the added
  // axes, the axis of a scan: element(of all positions, the state of that scan)
  rename,
  split,
  merge,
  broadcast,
  element,
  // a result
  output,
};

enum class op_group : unsigned char {
  source,
  random,
  unary,
  arithmetic,
  comparison,
  logic,
  choice,
  contraction,
  reduction,
  weights,
  prefix,
  state,
  scan,
  mask,
  gather,
  scatter,
  view,
  output
};

// The type of a result, from the (common) type of the operands: see types.hpp.
enum class result_rule : unsigned char {
  other,     // given by the step itself
  computed,  // that in which arithmetic is done
  floating,
  truth  // b8
};

// Where a result that is 0 in every interpretation is 0 in every honest arithmetic.
enum class zero_rule : unsigned char {
  exact,        // always: 0 far below, or behind a mask
  of_operands,  // if those of the operands are
  of_first,     // if that of the first is
  unsure        // never: a rounding error decides between 0 and another value
};

// In which operands a result is linear, the others being fixed. A conversion is not: it rounds. Nor
// is a scan, whose steps decide.
enum class linear_rule : unsigned char {
  nothing,
  each,     // in each operand by itself
  first,    // in the first
  rest,     // in all but the first together
  together  // in all together: a sum of them
};

// Of a pointwise operation, in units in the last place of f32 and of f64: over all numbers,
// including denormal ones, on CPUs, through CUDA and through PoCL. 0: exact, 0.5: rounded once.
struct largest_error {
  double f32 = -1, f64 = -1;  // not known
};

struct op_facts {
  op kind;
  std::string_view name;  // in messages
  op_group group;
  result_rule type;
  int flops;   // of one element, or of one term
  bool cheap;  // a few instructions away from its operands
  zero_rule zero;
  bool wraps;  // beyond the range of i32
  // Results of finite operands are finite, overflow aside: false of log(0), of sqrt(-1). Reductions
  // over no element may be infinite all the same.
  bool finite;
  linear_rule linear;
  largest_error error{};
};

// Every operation, in the order of its value.
inline constexpr auto op_table = [] {
  using enum op_group;
  using enum result_rule;
  using enum zero_rule;
  using enum linear_rule;
  // kind, name, group, type, flops, cheap, zero, wraps, finite, linear, error
  return std::to_array<op_facts>({
      {op::input, "in", source, other, 0, true, of_operands, false, true, nothing},
      {op::param, "param", source, other, 0, true, of_operands, false, true, nothing},
      {op::number, "number", source, other, 0, true, of_operands, false, true, nothing},
      {op::index, "index", source, other, 0, true, of_operands, false, true, nothing},
      {op::size, "size", source, other, 0, true, of_operands, false, true, nothing},
      {op::uniform, "uniform", random, other, 0, false, of_operands, false, true, nothing},
      {op::neg, "-", unary, computed, 1, true, of_operands, true, true, each, {0, 0}},
      {op::not_, "not", unary, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::exp, "exp", unary, floating, 1, false, exact, false, true, nothing, {2, 2}},
      {op::log, "log", unary, floating, 1, false, unsure, false, false, nothing, {2, 2}},
      {op::log1p, "log1p", unary, floating, 1, false, of_operands, false, false, nothing, {3, 3}},
      {op::tanh, "tanh", unary, floating, 1, false, of_operands, false, true, nothing, {3, 3}},
      {op::sigmoid, "sigmoid", unary, floating, 1, false, exact, false, true, nothing, {3, 3}},
      {op::relu, "relu", unary, computed, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::gelu, "gelu", unary, floating, 1, false, of_operands, false, true, nothing, {6, 20}},
      {op::silu, "silu", unary, floating, 1, false, of_operands, false, true, nothing, {4, 4}},
      {op::elu, "elu", unary, floating, 1, false, of_operands, false, true, nothing, {2, 2}},
      {op::softplus, "softplus", unary, floating, 1, false, exact, false, true, nothing, {6, 6}},
      {op::sqrt, "sqrt", unary, floating, 1, true, of_operands, false, false, nothing, {1, 1}},
      {op::rsqrt, "rsqrt", unary, floating, 1, true, of_operands, false, false, nothing, {2, 2}},
      {op::abs, "abs", unary, computed, 1, true, of_operands, true, true, nothing, {0, 0}},
      {op::erf, "erf", unary, floating, 1, false, of_operands, false, true, nothing, {2, 2}},
      {op::cos, "cos", unary, floating, 1, false, unsure, false, true, nothing, {4, 4}},
      {op::sin, "sin", unary, floating, 1, false, of_operands, false, true, nothing, {4, 4}},
      {op::cast, "cast", unary, other, 1, true, unsure, false, true, nothing, {0.5, 0.5}},
      {op::add, "+", arithmetic, computed, 1, true, unsure, true, true, together, {0.5, 0.5}},
      {op::sub, "-", arithmetic, computed, 1, true, unsure, true, true, together, {0.5, 0.5}},
      {op::mul, "*", arithmetic, computed, 1, true, of_operands, true, true, each, {0.5, 0.5}},
      {op::div, "/", arithmetic, floating, 1, true, of_first, false, false, first, {1, 1}},
      {op::min, "min", arithmetic, computed, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::max, "max", arithmetic, computed, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::pow, "pow", arithmetic, floating, 1, false, unsure, false, false, nothing, {2, 2}},
      {op::less, "<", comparison, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::less_equal, "<=", comparison, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::greater, ">", comparison, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::greater_equal, ">=", comparison, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::equal, "==", comparison, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::not_equal, "!=", comparison, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::and_, "and", logic, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::or_, "or", logic, truth, 1, true, unsure, false, true, nothing, {0, 0}},
      {op::where, "where", choice, other, 1, true, unsure, false, true, rest, {0, 0}},
      {op::dot, "dot", contraction, floating, 2, true, of_operands, true, true, each},
      {op::sum, "sum", reduction, computed, 1, true, of_operands, true, true, each},
      {op::max_over, "max", reduction, computed, 1, true, of_operands, false, true, nothing},
      {op::min_over, "min", reduction, computed, 1, true, of_operands, false, true, nothing},
      {op::mean, "mean", reduction, floating, 1, true, of_operands, false, true, each},
      {op::logsumexp, "logsumexp", reduction, floating, 3, true, unsure, false, true, nothing},
      {op::softmax, "softmax", weights, floating, 4, true, exact, false, true, nothing},
      {op::normalize, "normalize", weights, floating, 2, true, of_operands, false, true, nothing},
      {op::cumsum, "cumsum", prefix, computed, 0, true, of_operands, true, true, each},
      {op::carried, "carried", state, other, 0, true, of_operands, false, true, nothing},
      {op::scan, "scan", scan, other, 0, true, of_operands, false, true, nothing},
      {op::last, "last", scan, other, 0, true, of_operands, false, true, nothing},
      {op::mask, "mask", mask, other, 0, true, of_first, false, true, first},
      {op::take, "take", gather, other, 0, true, of_operands, false, true, first},
      {op::put, "put", scatter, other, 1, true, of_operands, false, true, first},
      {op::concat, "concat", gather, other, 0, true, of_operands, false, true, together},
      {op::rename, "rename", view, other, 0, true, of_operands, false, true, each},
      {op::split, "split", view, other, 0, true, of_operands, false, true, each},
      {op::merge, "merge", view, other, 0, true, of_operands, false, true, each},
      {op::broadcast, "broadcast", view, other, 0, true, of_operands, false, true, each},
      {op::element, "element", view, other, 0, true, of_operands, false, true, first},
      {op::output, "out", output, other, 0, true, of_operands, false, true, each},
  });
}();
inline constexpr int op_count = op_table.size();

constexpr bool in_order_of_values() {
  for (int i = 0; i < op_count; ++i)
    if (static_cast<int>(op_table[static_cast<std::size_t>(i)].kind) != i) return false;
  return true;
}
static_assert(in_order_of_values() && op_count == static_cast<int>(op::output) + 1,
              "each operation has one row of op_table, at its own place");

constexpr const op_facts &facts_of(op o) { return op_table[static_cast<std::size_t>(o)]; }
constexpr std::string_view name_of(op o) { return facts_of(o).name; }
constexpr op_group group_of(op o) { return facts_of(o).group; }

constexpr bool is_source(op o) { return group_of(o) == op_group::source; }
constexpr bool is_unary(op o) { return group_of(o) == op_group::unary; }
// exp(x), in contrast to -x, not x and cast<i32>(x).
constexpr bool is_function_of_one_number(op o) {
  return is_unary(o) && o != op::neg && o != op::not_ && o != op::cast;
}
constexpr bool is_comparison(op o) { return group_of(o) == op_group::comparison; }
constexpr bool is_binary(op o) {
  return group_of(o) >= op_group::arithmetic && group_of(o) <= op_group::logic;
}
constexpr bool is_pointwise(op o) {
  return group_of(o) >= op_group::unary && group_of(o) <= op_group::choice;
}
constexpr bool is_reduction(op o) { return group_of(o) == op_group::reduction; }
// A value of one position of a scan, which is not a step of its own outside of the scan.
constexpr bool is_of_a_position(op o) { return o == op::carried || o == op::element; }
constexpr bool is_gather(op o) { return group_of(o) == op_group::gather; }
constexpr bool makes_weights(op o) { return group_of(o) == op_group::weights; }
constexpr bool is_view(op o) { return group_of(o) == op_group::view; }

constexpr bool errors_are_known() {
  for (const op_facts &o : op_table)
    if (is_pointwise(o.kind) && (o.error.f32 < 0 || o.error.f64 < 0)) return false;
  return true;
}
static_assert(errors_are_known(), "the row of a pointwise operation ends with its largest error");

// True for an operation that a spec calls by its name.
constexpr bool is_called(op o) {
  switch (group_of(o)) {
    case op_group::state:
    case op_group::scatter:
    case op_group::output:
      return false;
    case op_group::source:
      return o == op::index || o == op::size;
    default:
      return o != op::last && o != op::not_ && !is_of_a_position(o);
  }
}

}  // namespace qkv::core

namespace qkv::detail {

using namespace core;

}  // namespace qkv::detail
