#pragma once
// Which element type an operation gives. Storage types of 16 bit compute in f32; f64 computes in
// f64.
#include <qkv/core/dtype.hpp>
#include <qkv/core/op.hpp>

namespace qkv::detail {

constexpr bool is_float(dtype t) { return t != i32 && t != b8; }

// What arithmetic on this type is done in.
constexpr dtype computed(dtype t) { return t == f64 ? f64 : t == i32 || t == b8 ? i32 : f32; }
constexpr dtype as_float(dtype t) { return t == f64 ? f64 : f32; }

constexpr dtype common_type(dtype a, dtype b) {
  a = computed(a), b = computed(b);
  return a == f64 || b == f64 ? f64 : a == f32 || b == f32 ? f32 : i32;
}

constexpr dtype binary_type(op kind, dtype a, dtype b) {
  if (is_comparison(kind) || kind == op::and_ || kind == op::or_) return b8;
  const dtype t = common_type(a, b);
  return kind == op::div || kind == op::pow ? as_float(t) : t;
}

constexpr dtype unary_type(op kind, dtype t) {
  if (kind == op::not_) return b8;
  return kind == op::neg || kind == op::abs || kind == op::relu ? computed(t) : as_float(t);
}

constexpr dtype reduced_type(op kind, dtype t) {
  return kind == op::mean || kind == op::logsumexp ? as_float(t) : computed(t);
}

}  // namespace qkv::detail
