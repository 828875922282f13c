// SPDX-License-Identifier: BSL-1.0
#pragma once
// The element type that an operation gives. Storage types of 16 bit compute in f32; f64 computes in
// f64.
#include <qkv/core/dtype.hpp>
#include <qkv/core/op.hpp>

namespace qkv::detail {

constexpr bool is_float(dtype t) { return t != i32 && t != b8; }

// The type in which values of this type are computed.
constexpr dtype computed(dtype t) { return t == f64 ? f64 : t == i32 || t == b8 ? i32 : f32; }
constexpr dtype as_float(dtype t) { return t == f64 ? f64 : f32; }

constexpr dtype common_type(dtype a, dtype b) {
  a = computed(a), b = computed(b);
  return a == f64 || b == f64 ? f64 : a == f32 || b == f32 ? f32 : i32;
}

// Of an operation whose operands have this (common) type.
constexpr dtype result_type(op kind, dtype t) {
  switch (facts_of(kind).type) {
    case result_rule::truth:
      return b8;
    case result_rule::floating:
      return as_float(t);
    default:
      return computed(t);
  }
}
constexpr dtype result_type(op kind, dtype a, dtype b) {
  return result_type(kind, common_type(a, b));
}

}  // namespace qkv::detail
