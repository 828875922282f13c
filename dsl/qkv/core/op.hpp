#pragma once
// The closed list of operations that a graph is made of, with the name each has in messages.
#include <string_view>

namespace qkv::core {

enum class op : unsigned char {
  // sources
  input,   // changes with every call
  param,   // a parameter of the model
  number,  // a constant
  index,   // the position along an axis, i32
  size,    // the extent of an axis, i32
  // random numbers of [0, 1) along `over`, from a seed
  uniform,
  // pointwise, one operand
  neg,
  not_,
  exp,
  log,
  tanh,
  sigmoid,
  relu,
  gelu,
  silu,
  elu,
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
  // one after the other along over[0]; over[1] of the first operand, the last of `over` of the
  // second
  concat,
  // another view of the same numbers; `over` is {from, to}, {whole, a, b}, {whole, a, b}, the added
  // axes, the axis that a scan walks: element(of all positions, the state of that scan)
  rename,
  split,
  merge,
  broadcast,
  element,
  // a result
  output,
};

constexpr std::string_view name_of(op o) {
  constexpr std::string_view names[] = {
      "in",      "param",     "number",  "index",   "size",      "uniform", "-",         "not",
      "exp",     "log",       "tanh",    "sigmoid", "relu",      "gelu",    "silu",      "elu",
      "sqrt",    "rsqrt",     "abs",     "erf",     "cos",       "sin",     "cast",      "+",
      "-",       "*",         "/",       "min",     "max",       "pow",     "<",         "<=",
      ">",       ">=",        "==",      "!=",      "and",       "or",      "where",     "dot",
      "sum",     "max",       "min",     "mean",    "logsumexp", "softmax", "normalize", "cumsum",
      "carried", "scan",      "last",    "mask",    "take",      "concat",  "rename",    "split",
      "merge",   "broadcast", "element", "out"};
  return names[static_cast<int>(o)];
}

constexpr bool is_source(op o) { return o <= op::size; }
constexpr bool is_unary(op o) { return o >= op::neg && o <= op::cast; }
constexpr bool is_binary(op o) { return o >= op::add && o <= op::or_; }
constexpr bool is_comparison(op o) { return o >= op::less && o <= op::not_equal; }
constexpr bool is_pointwise(op o) { return o >= op::neg && o <= op::where; }
constexpr bool is_reduction(op o) { return o >= op::sum && o <= op::logsumexp; }
// A value of one position of a scan: no step of its own outside of it.
constexpr bool is_of_a_position(op o) { return o == op::carried || o == op::element; }
constexpr bool is_gather(op o) { return o == op::take || o == op::concat; }
constexpr bool makes_weights(op o) { return o == op::softmax || o == op::normalize; }
constexpr bool is_view(op o) { return o >= op::rename && o <= op::element; }

}  // namespace qkv::core

namespace qkv::detail {

using namespace core;

}  // namespace qkv::detail
