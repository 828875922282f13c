// SPDX-License-Identifier: BSL-1.0
#pragma once
// Reads tests/program/outside_values.txt: values of operations that were made outside of qkv.
#include <qkv/core/op.hpp>

#include <string>
#include <vector>

namespace qkv::testing {

struct outside_value {
  core::op kind;
  double x, y;  // exact in f32; y is x for functions of one number
  long double value;
};

std::vector<outside_value> outside_values();

}  // namespace qkv::testing
