// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kernel as data: the run-time form of the graph that dsl/ traces. Everything after dsl/ reads
// this.
#include <cstdint>
#include <string>
#include <vector>

#include <qkv/core/dtype.hpp>
#include <qkv/core/op.hpp>
#include <qkv/core/text.hpp>

namespace qkv::codegen {

using core::op, core::sv;

using axis_id = int;  // position in program::axes
using node_id = int;  // position in program::nodes; operands come before their users

struct axis {
  std::string name;
  std::int64_t size = -1;  // -1: decided at the call
  bool batch = false;
  axis_id root = -1;  // the axis whose size this one shares (alias); itself when none
};

struct node {
  op kind{};
  dtype type = f32;         // of the result
  std::vector<node_id> in;  // operands
  std::vector<axis_id>
      shape;  // axes of the result, in the order of the declaration for inputs and outputs
  std::vector<axis_id> over;  // contracted, reduced or normalised axes; see op for views
  double value = 0;           // of a number
  // softmax: of scores less their maximum: NaN in rows of only -inf; exp: of a score less its
  // logsumexp, a weight
  bool less_maximum = false;
  bool is_position = false;  // input: where a part of an axis begins, or how long the whole is
  std::string name;          // of an input, param, output or let; else empty
};

// A requirement on sizes that only the call can decide.
struct condition {
  enum kind {
    same_size,
    product,
    sum
  } what;  // size(a) == size(b), .. size(b) * size(c), .. size(b) + size(c)
  axis_id a = -1, b = -1, c = -1;
  std::string text;  // required by: "rename<mem, kv>", "split<d_model, heads, d_k>"
};

// True for the types of floating-point arithmetic; 16-bit storage is widened first.
constexpr bool is_floating(dtype t) { return t == f32 || t == f64; }

struct program {
  std::string name;
  std::vector<axis> axes;
  std::vector<node> nodes;
  std::vector<node_id> arguments;  // inputs and params, in the order of the signature
  std::vector<node_id> outputs;    // nodes of kind output, in the order of the signature
  std::vector<condition> conditions;

  const node &operator[](node_id n) const { return nodes[n]; }
};

// The size that the spec gives an axis, or the one whose name it shares; -1: decided at the call.
inline std::int64_t static_size(const program &p, axis_id a) { return p.axes[p.axes[a].root].size; }

// A hash of everything that decides what the kernel computes (names of steps excluded); the same on
// every compiler.
std::uint64_t fingerprint(const program &);

}  // namespace qkv::codegen
